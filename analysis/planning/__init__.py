"""Planning: what study designs cost, and how precise their results would be (docs/methods/planning.md).

| module | content |
|---|---|
| `parameters` | parameters of a plan, as stored with a run |
| `queries` | defaults from the study's campaigns and latest analysis |
| `expectations` | assumptions, from an earlier analysis or as entered |
| `compute` | costs of designs, and tables from simulations |
| `sequential_campaigns` | campaigns that stop when they know |
| `services` | the run |
"""
