"""The life of a writing task: who gets it, how long it is theirs, what comes of it, and what it pays.

| module | what |
|---|---|
| `slots` | the rows that are there to be claimed, as the plan asks for them |
| `claiming` | one person gets one of them, exactly once |
| `trials` | whether somebody must first write on the trial topics, and how they fare |
| `holding` | what somebody has in hand, and until when |
| `leases` | what becomes of a claim without a sign of life; late owners |
| `steps` | what is due next of a claimed task |
| `submitting` | the text becomes a response |
| `reviewing`, `paying` | what researchers decide, and what is owed |
| `listing` | what a writer reads of all that |
| `moving` | every change of a task's state, with its cause |

Locks are taken in one order: participant, task, plan, open task. Whoever waits for an open task holds no plan.
"""
