"""The nouns: small immutable types that every room speaks. numpy only."""
