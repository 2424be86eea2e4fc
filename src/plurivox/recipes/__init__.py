"""Recipes: whole walks through several rooms."""
