"""What several heads share."""
