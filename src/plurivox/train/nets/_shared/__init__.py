"""Code that several nets share."""
