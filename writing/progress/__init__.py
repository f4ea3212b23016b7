"""The progress of writing in a study: counts by style and writer, time and pay, participation, and costs.

| module | content |
|---|---|
| `queries` | the study's tasks with their payments, and counts by style |
| `wages` | time and hourly pay by response and by writer; writers below the wage floor, and top-ups |
| `funnel` | the number of participants at each step, from invited to accepted |
| `overview` | everything on the page, with spending, and as tables to download |
"""
