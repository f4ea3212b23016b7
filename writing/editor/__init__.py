"""The editor: its page, its sessions, what it sends and how that is stored (docs/adr/0015).

| module | what |
|---|---|
| `page` | what the page shows |
| `sessions` | opening, tokens, finishing; the lock of all that happens to a log |
| `events`, `event_validation` | what is recorded, and the check of what comes in |
| `ingestion` | taking in batches, and compacting them later |
| `codec`, `logs` | how events are packed, stored and read |
| `script_messages` | what the page's scripts say |
"""
