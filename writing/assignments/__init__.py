"""The life of a writing task: claim, lease, submission and payment.

| module | content |
|---|---|
| `slots` | the open tasks of the plan |
| `claims` | claiming an open task exactly once; trials of new writers |
| `leases` | how long a claimed task is kept; expiry without activity |
| `lifecycle` | the allowed transitions (`crowdrag.assignments`) |
| `steps` | the next step of a task: entry survey, editor, exit survey |
| `submission` | turning the text into a response |
| `platform_payments` | payments by the platform that sent the writer |
| `queries` | tasks and earnings for the writer's pages |
| `activity` | the offer to writers, and the interface to recruitment platforms |

Reviewers' decisions are in `writing.review.services`. Locks are always taken in the order participant, task, plan, open
task. Code that waits for an open task must not hold a plan.
"""
