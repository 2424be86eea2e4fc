"""Helpers shared by several aggregation methods."""
