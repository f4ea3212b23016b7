"""What a release holds: tables of rows that may leave the system, and what was left out of them."""
