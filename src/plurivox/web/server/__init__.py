"""The ASGI application, its middleware, and functions that run it."""
