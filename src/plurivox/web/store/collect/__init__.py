"""SQL statements of a running study: tasks, workers, leases, answers."""
