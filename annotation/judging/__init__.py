"""Judging: assignment of questionnaires, leases, answers, submission, decisions and pay.

| module | what |
|---|---|
| `slots` | the k slots of each questionnaire, each free or held |
| `eligibility` | questionnaires that a participant must not judge |
| `claims` | assign a questionnaire with a free slot to a participant; resume one that was lost |
| `leases` | the current assignment of a participant and its deadline; how slots become free again |
| `questionnaire_content` | what a questionnaire asks and shows |
| `answers` | store answers as they are given, and the viewing times of items |
| `submission` | submit a complete questionnaire, in time or late |
| `decisions` | decisions of researchers |
| `lifecycle` | allowed transitions of an assignment, with its slot (`crowdrag.assignments`) |
| `platform_status` | status updates from and to recruitment platforms |
| `activity`, `queries` | what campaigns offer to judges, and what judges see of their questionnaires |
| `erasure` | erase a participant's judgments, and quotes of what a participant wrote |

Locks are taken in this order: participant, assignment, slot. A transaction that waits for a slot holds no slot.
"""
