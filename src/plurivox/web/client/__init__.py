"""HTTP client of the studio, and simulated workers that use it."""

from plurivox.web.client.client import Client, Rejected

__all__ = ["Client", "Rejected"]
