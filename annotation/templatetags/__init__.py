"""What templates of judging ask for."""
