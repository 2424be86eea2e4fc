"""What is computed in the background: snapshots, statistics, exclusions, pay."""
