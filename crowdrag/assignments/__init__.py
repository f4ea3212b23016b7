"""The lifecycle of paid work, shared by writing and judging: claim, lease, transition, submit, review, pay.

| module | what |
|---|---|
| `models` | common fields of paid work, its transitions and its payments |
| `lifecycle` | locks, state changes with their cause, expiry of leases, payments |
| `decisions` | reviewers' decisions: payment and inclusion |
| `bulk` | one decision about many pieces of work, applied to each separately |
| `undo` | which decisions can be undone, until when, and how |
| `forms` | forms of bulk decisions |
| `assignees` | the reviewer to whom work is assigned |
| `review_locks` | which reviewer has a piece of work open |
| `problems` | why an action is not possible, with a message for the user |

`writing.assignments` and `annotation.judging` define the states, the allowed transitions, and the side effects.
Locks are taken in one order: participant, then the piece of work, then everything it refers to.
"""
