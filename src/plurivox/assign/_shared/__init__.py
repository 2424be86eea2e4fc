"""What several assigners share."""
