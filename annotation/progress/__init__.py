"""How a running campaign stands: collected against asked, time and pay, cost, agreement and competence so far.

| module | what |
|---|---|
| `queries` | the campaign's assignments and questionnaires, and where they stand |
| `wages`, `costs` | how long they take and what they pay an hour; cost so far, promised, to come |
| `judges` | who came how far; what each judge did |
| `agreement` | the judgments so far as arrays; agreement and competence of them |
| `pace` | how long the rest takes at the pace so far |
| `judge_flags`, `check_summary` | what speaks against judges' work; how checks were answered |
| `people_at_work` | who has a questionnaire now |
| `services` | when these are computed again; asking for more judgments |
| `overview`, `csv_export`, `campaign_summary` | all of it for the page, as tables to download, and at a glance |
"""
