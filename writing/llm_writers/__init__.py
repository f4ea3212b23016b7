"""Models as writers. A run asks a model through the gateway, with the same instructions and passages as people.

| module | content |
|---|---|
| `targets` | the topics and styles to write |
| `prompts` | the study's versioned prompt and its placeholders |
| `writer` | a model as a participant: endpoint, prompt, answer format, parameters; its request for a slot |
| `outcomes` | classifying an answer, and storing it with the response |
| `writer_run` | the run: order, units, work, cost forecast |
| `queries` | runs and answers for pages |
"""
