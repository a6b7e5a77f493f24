"""The exercises, a file for each notebook but the sixth, which has the clinic."""
