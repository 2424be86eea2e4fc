"""Background jobs of a server: snapshots of the results, statistics, exclusions, pay."""
