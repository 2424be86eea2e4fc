"""What several scores share."""
