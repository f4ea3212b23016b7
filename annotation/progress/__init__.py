"""Progress of a running campaign: completion, time and pay, cost, agreement and competence so far.

| module | what |
|---|---|
| `queries` | the campaign's assignments and questionnaires, and their states |
| `wages`, `costs` | duration and hourly pay; costs spent, committed and expected |
| `judges` | the funnel of judges, and each judge's work |
| `agreement` | the judgments so far as arrays; their agreement and competence |
| `time_left` | remaining time at the current pace |
| `judge_flags`, `check_summary` | flags of judges' work; results of checks |
| `people_at_work` | who has a questionnaire now |
| `services` | when figures are recomputed; more judgments per questionnaire |
| `overview`, `csv_export`, `campaign_summary` | all of it for the page, as CSV tables, and in brief |
"""
