"""Measured claims: ratios against a peer or a floor, taken in the same run. `make bench` runs them all."""
