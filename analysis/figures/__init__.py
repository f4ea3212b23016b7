"""What all charts share, and how they are drawn."""
