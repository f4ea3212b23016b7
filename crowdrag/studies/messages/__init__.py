"""What participants ask the researchers, report or contest, and what they are answered."""
