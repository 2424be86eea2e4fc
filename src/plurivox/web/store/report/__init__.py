"""SQL of what owners see: counters, logs of answers and work, snapshots, alerts."""
