"""What deck, site and the classroom's pages share: a notebook's outputs, boards without a kernel, markdown, faces."""
