"""Pages of the gateway, one a file."""
