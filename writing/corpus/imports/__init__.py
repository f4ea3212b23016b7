"""Imports of topics and responses: read, check, then store in one transaction; on errors, store nothing."""
