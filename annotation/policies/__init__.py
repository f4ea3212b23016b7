"""Which questionnaire is given out next, and to whom: policies of a campaign, and the log of their choices.

| module | what |
|---|---|
| `models` | each choice with its probability; when the policy last looked |
| `pools` | a campaign's items, questionnaires and votes as arrays for a policy |
| `services` | laying out the free slots by the policy's scores, after enough new judgments |
| `choice_weights` | weights of the judgments that keep estimates unbiased |
| `queries` | what the campaign page shows: the policy at work, and how its arms compare |

How a claim draws a slot is in `annotation/judging/draws.py`, the policies themselves in `analysis/stats/policies.py`.
"""
