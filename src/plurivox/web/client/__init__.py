"""HTTP client of the studio, and simulated workers that use it."""

from plurivox.web.client.client import Client

__all__ = ["Client"]
