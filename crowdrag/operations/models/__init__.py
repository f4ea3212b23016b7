"""What operations keeps."""
