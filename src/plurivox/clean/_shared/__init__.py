"""Helpers shared by several cleaning rules."""
