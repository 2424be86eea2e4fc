"""What several nets share."""
