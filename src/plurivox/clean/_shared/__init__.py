"""Code shared by several cleaning rules."""
