"""What every exercise is made of, and how an answer is judged."""
