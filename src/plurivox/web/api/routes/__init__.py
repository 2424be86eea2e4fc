"""Routes: `/api` for workers, `/api/owner` for owners, `/media`, `/health`, and the HTML pages."""
