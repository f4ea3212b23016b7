"""The life of a writing task: who gets it, how long it is theirs, what comes of it, and what it pays.

| module | what |
|---|---|
| `slots` | the rows that are there to be claimed, as the plan asks for them |
| `claims` | one person gets one of them, exactly once; trials of new writers |
| `leases` | what somebody has in hand, and until when; what becomes of a claim without a sign of life |
| `lifecycle` | what may follow on what (`crowdrag.assignments`) |
| `steps` | what is due next of a task: questions, the editor, questions |
| `submission` | the text becomes a response |
| `platform_payments` | what is owed, paid by the platform that sent the writer |
| `queries` | what a writer reads of all that |
| `activity` | what a study offers to writers, and writing as a recruitment platform sees it |

What reviewers decide is in `writing.review.services`. Locks are taken in one order: participant, task, plan, open task.
Whoever waits for an open task holds no plan.
"""
