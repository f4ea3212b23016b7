"""Earnings of participants, payments made, and payment lists."""
