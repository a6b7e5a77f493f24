"""What `attn_lib.trace` is made of: record, surprises, compare and view."""
