"""What participants earned, what was paid out, and lists of payments to be made."""
