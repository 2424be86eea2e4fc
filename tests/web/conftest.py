"""Studios draw the same in every run; their tests are skipped where the packages of the studio are missing."""

from seeded_studies import seeded_module, seeded_test

__all__ = ["seeded_module", "seeded_test"]
