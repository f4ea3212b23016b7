"""What the API keeps."""
