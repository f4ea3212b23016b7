"""What all endpoints share: base classes, problems, pages of lists, limits, idempotency, and the API's description.

The endpoints themselves stand with their features (`api.py`).
"""
