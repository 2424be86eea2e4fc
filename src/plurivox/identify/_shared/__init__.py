"""Code shared by several scores of tasks, workers or crowds."""
