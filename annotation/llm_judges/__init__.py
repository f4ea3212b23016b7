"""Model judges: runs that send the questions and texts that people get to a model through the gateway.

| module | what |
|---|---|
| `prompts` | the study's prompt in versions, with its placeholders filled in |
| `judge` | a model as a participant: endpoint, prompt, parameters and requests |
| `stimuli` | the items of a campaign to judge, and in which orders |
| `llm_campaigns` | the campaign for a model's judgments, with its items |
| `outcomes` | classify an answer, and store it with its judgments |
| `run_orders` | the settings of a run, and its cost estimate |
| `judge_run` | the run that judges, and the types of runs |
| `injection`, `injection_results` | the injection test: texts, run, results |
| `queries` | data for the pages |
"""
