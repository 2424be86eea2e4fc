"""SQL statements of the owner's pages: progress, soft labels, scores, pay, snapshots, alerts."""
