"""Code shared by several aggregators."""
