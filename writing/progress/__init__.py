"""How far the writing of a study is: by style and by writer, time and pay, who came and who stayed, what it costs.

| module | what |
|---|---|
| `queries` | the study's tasks with what was paid for them, and where they stand by style |
| `wages` | time and pay an hour, by response and by writer; who earns less than the floor, and topping up |
| `funnel` | from invited to accepted |
| `overview` | all of it for the page, with what was spent, and as tables to download |
"""
