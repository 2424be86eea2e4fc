"""Scripts that show the product; the tests run them."""
