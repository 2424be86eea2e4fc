"""SQL statements of administration: owners, invitations, backup, erasure, import and export."""
