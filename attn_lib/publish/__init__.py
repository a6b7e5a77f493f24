"""How the course leaves the notebooks: presented to a hall, as stand-alone slides, as a web site."""
