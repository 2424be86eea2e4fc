"""Seed the random draws of every test; skip the tests if the packages of the studio are not installed."""

from seeded_studies import seeded_module, seeded_test

__all__ = ["seeded_module", "seeded_test"]
