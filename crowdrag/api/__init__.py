"""The shared parts of all endpoints: base classes, problems, pagination, limits, idempotency, and API description.

The endpoints themselves are with their features (`api.py`).
"""
