"""Routes: a file a topic. `/api` for workers, `/api/owner` for owners, `/media`, `/health`, and the pages."""
