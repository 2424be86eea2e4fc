"""Code shared by several assignment methods."""
