"""Orders of runs: what costs something is estimated first, and started as estimated."""
