"""What several aggregators share."""
