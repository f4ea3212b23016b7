"""Planning a study before it is paid for: what designs cost, and what they can find out (docs/methods/planning.md).

| module | what |
|---|---|
| `asked` | what a plan is asked for, as a run keeps it |
| `prefilling` | what a study's own campaigns and latest analysis say of it |
| `expecting` | what is expected to be true: of an earlier analysis, or as given |
| `costs` | people, hours and money of a design |
| `rows` | simulations to the rows of the tables |
| `working` | the run |
"""
