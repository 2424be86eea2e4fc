"""What several simulators share."""
