"""Recruitment: platforms that send people here, and pay them.

`prolific` talks to the platform. `platform_studies` makes and runs studies there; `webhooks` and `polling` hear how
they stand, and `submission_sync` writes it down and tells `listeners`. What the platform is to do (`platform_actions`)
is written down first and sent by the `platform_outbox`; `platform_sync` does all that is due.
"""
