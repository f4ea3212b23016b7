"""What audit trail keeps."""
