"""HTTP client of the studio, and simulated workers that use it."""

from plurivox.web.client.worker_client import Client, Rejected

__all__ = ["Client", "Rejected"]
