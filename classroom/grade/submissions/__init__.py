"""What was handed in: found, read, and given to whom it belongs."""
