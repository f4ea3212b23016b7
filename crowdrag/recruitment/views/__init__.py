"""The pages of recruitment."""
