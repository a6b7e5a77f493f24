"""How things look: numbers and frames, figures, colours."""
