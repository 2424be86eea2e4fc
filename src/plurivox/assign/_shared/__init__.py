"""Helpers shared by several assignment methods."""
