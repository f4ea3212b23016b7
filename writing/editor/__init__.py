"""The editor: its page, its sessions, and its events and their storage (docs/adr/0015).

| module | content |
|---|---|
| `page` | the content of the page |
| `sessions` | opening, tokens, finishing; the lock for all changes to a log |
| `events`, `event_validation` | the recorded events, and their validation |
| `ingestion` | storing batches, and compacting them later |
| `codec`, `logs` | packing, storing and reading events |
| `script_messages` | messages of the page's scripts |
"""
