"""Code shared by several scores."""
