"""Helpers of the recipes that reproduce one paper: protocols, experimental conditions and published figures."""
