"""What makes the generated pages and stubs."""
