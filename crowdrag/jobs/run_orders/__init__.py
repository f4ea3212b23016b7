"""Orders of runs: runs with a cost are estimated first, and started as estimated."""
