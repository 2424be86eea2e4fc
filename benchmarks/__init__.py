"""Benchmarks: speed and memory relative to another library or a lower bound, in the same run; `make bench` runs all."""
