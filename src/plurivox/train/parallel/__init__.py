"""Several trainings at once: runs, scheduling, stacked nets."""
