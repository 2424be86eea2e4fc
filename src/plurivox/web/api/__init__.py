"""The HTTP API: authentication, rate limits, request and response schemas, routes."""
