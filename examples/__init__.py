"""Example scripts; the tests run them."""
