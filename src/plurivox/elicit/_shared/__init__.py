"""Helpers shared by several elicitation forms."""
