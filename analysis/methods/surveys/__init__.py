"""What writers said before and after writing."""
