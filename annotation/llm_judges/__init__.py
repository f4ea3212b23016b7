"""Model judges: the same questions and texts that people get, asked through the gateway, as a run.

| module | what |
|---|---|
| `prompts` | what a model is told: the study's prompt in versions, its places filled in |
| `judge` | a model as a participant: endpoint, prompt, parameters; what it is asked |
| `stimuli` | which of a campaign's items are judged, in which orders |
| `llm_campaigns` | the campaign that a model's judgments stand in, with its items |
| `outcomes` | what an answer comes to, and storing it with the judgments |
| `orders` | what is asked for, and what it would come to |
| `judge_run` | the run that judges, and the kinds of runs |
| `injection`, `injection_results` | texts that tell a judge what to say, their run, what that found |
| `queries` | what pages show |
"""
