"""Scripts that generate documentation pages and stub files."""
