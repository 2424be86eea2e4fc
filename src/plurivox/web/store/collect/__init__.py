"""SQL of a running study: tasks, workers, leases, answers."""
