"""Orders: runs that cost something are estimated first, and only what was estimated is started."""
