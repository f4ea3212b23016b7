"""What webhooks keeps."""
