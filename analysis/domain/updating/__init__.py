"""Updates of an analysis as judgments come in: competence, labels, agreement and grades, without starting over.

| module | what |
|---|---|
| `working` | an update as a run: what it reads, computes and stores |
| `due` | which studies are to be updated now (a duty of the sweep) |

What an update keeps of the full analysis, and why that is exact, is in `results.earlier` and docs/methods/updating.md.
"""
