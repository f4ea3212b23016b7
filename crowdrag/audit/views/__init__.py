"""Pages and endpoints."""
