"""Recruitment: platforms that send people here, and pay them."""
