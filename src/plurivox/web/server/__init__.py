"""The ASGI application, its middleware, and how it is started."""
