"""SQL of administration: owners, invitations, backup, erasure."""
