"""The life of paid work, shared by writing and judging: claim, lease, transition, submit, review, pay.

| module | what |
|---|---|
| `models` | what a piece of paid work, its transitions and its payments have in common |
| `lifecycle` | locks, changes of state with their cause, leases that run out, payments |
| `decisions` | paid or not, counted or not: what reviewers decide |
| `bulk` | one decision about many pieces of work, each on its own |
| `undo` | which decisions can be undone, until when, and how |
| `forms` | one decision about many pieces of work, as it is entered |
| `assignees` | which reviewer is to decide about it |
| `review_locks` | who has a piece of work open for review |
| `problems` | what cannot be done with it, in words for whoever tried |

`writing.assignments` and `annotation.judging` say which states there are, what follows on what, and what else happens.
Locks are taken in one order: participant, then the piece of work, then whatever it holds.
"""
