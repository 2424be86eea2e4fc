"""Code that several heads share."""
