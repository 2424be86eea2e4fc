"""Code shared by several forms."""
