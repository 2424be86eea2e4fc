"""The HTTP interface: authentication, rate limits, request and response models, routes."""
