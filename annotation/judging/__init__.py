"""The questionnaire and its answers: who judges which, how long it is theirs, what comes of it, what it pays.

| module | what |
|---|---|
| `slots` | the k slots of each questionnaire, free or held |
| `eligibility` | which questionnaires a participant must not judge |
| `claims` | one person gets a questionnaire that has a free slot; who was late goes on |
| `leases` | what somebody has in hand, and until when; how a slot becomes free again |
| `questionnaire_content`, `response_layout` | what a questionnaire asks and shows |
| `answers` | answers as they are given, and how long each item is looked at |
| `submission` | a complete questionnaire is handed in, in time or late |
| `decisions` | what researchers decide |
| `lifecycle` | what may follow on what, with the slot that an assignment holds (`crowdrag.assignments`) |
| `platform_status` | what a recruitment platform says of a visit, and is told of the work |
| `activity`, `queries` | what campaigns offer to judges, and what these read of their questionnaires |
| `erasure` | erasing what somebody judged, and quotes of what somebody wrote |

Locks are taken in one order: participant, assignment, slot. Whoever waits for a slot holds no slot.
"""
