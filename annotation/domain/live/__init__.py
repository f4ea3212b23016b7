"""How a running campaign stands: collected against asked, time and pay, cost, agreement and competence so far.

| module | what |
|---|---|
| `rows` | the campaign's assignments and questionnaires, one query each |
| `counting` | where questionnaires stand, what was lost on the way |
| `working` | how long they take and what they pay an hour |
| `spending`, `extending` | cost so far, promised, to come; asking for more judgments |
| `funnel`, `judges` | who came how far; what each judge did |
| `judged`, `figures` | the judgments so far as arrays; agreement and competence of them |
| `refreshing` | when these are computed again |
| `overview`, `tables`, `glancing` | all of it for the page, as tables to download, and at a glance |
"""

from .extending import extend, extension
from .glancing import Glance, glance
from .overview import Overview, Phase, overview, phase
from .refreshing import changed_since, refresh, refresh_due
from .spending import Extension
from .tables import TABLES, UnknownTable, as_table

__all__ = [
    "TABLES",
    "Extension",
    "Glance",
    "Overview",
    "Phase",
    "UnknownTable",
    "as_table",
    "changed_since",
    "extend",
    "extension",
    "glance",
    "overview",
    "phase",
    "refresh",
    "refresh_due",
]
