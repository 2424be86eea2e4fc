"""Helpers of the recipes that reproduce one paper: protocols, conditions and published numbers."""
