"""The web site: every lesson as a page in which the boards still move."""
