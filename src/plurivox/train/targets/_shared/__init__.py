"""Code that several targets share."""
