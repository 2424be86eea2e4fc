"""Code shared by several simulation strategies."""
