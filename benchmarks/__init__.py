"""Benchmarks: speed and memory as ratios to another library or a lower bound, in the same run. `make bench` runs all."""
