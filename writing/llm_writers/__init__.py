"""Models as writers: the same instructions and passages that people get, asked through the gateway, as a run.

| module | what |
|---|---|
| `targets` | which topics in which styles are to be written |
| `prompts` | what a model is told: the study's prompt in versions, its places filled in |
| `writer` | a model as a participant: endpoint, prompt, form of the answer, parameters; what it is asked for a slot |
| `outcomes` | what an answer comes to, and storing it with the response |
| `writer_run` | the run: its order, units, work; what it would cost |
| `queries` | what pages show of runs and answers |
"""
