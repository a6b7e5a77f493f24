"""What authors and instructors run and no notebook imports: diagrams, slides, the web site, grading. Not installed."""
