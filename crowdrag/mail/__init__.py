"""Emails to participants who gave an address: submitted, accepted, revision requested, paid, question answered.

| module | holds |
|---|---|
| `models` | addresses, encrypted; the queue of emails |
| `outbox` | what happened is stored in the transaction in which it happens, once |
| `work_events` | which changes of paid work people are told of |
| `contents` | an email's words, in the study's language |
| `deliveries` | sends what is due, with retries, until the mail server took it |
| `services` | a participant's address: kept, removed, erased |
"""
