"""Recruitment platforms, which send participants here and pay them.

`prolific` is the client of the platform. `platform_studies` creates and runs studies there; `webhooks` and `polling`
receive their state, and `submission_sync` records it and calls `listeners`. Actions on the platform
(`platform_actions`) are stored first and sent by the `platform_outbox`; `platform_sync` does everything that is due.
"""
