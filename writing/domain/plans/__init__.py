"""How a study has its responses written by people: styles, slots, pay, what people are told and asked.

| module | what |
|---|---|
| `texts` | the instructions and the consent text that a study begins with |
| `changing` | making a plan, and changing it: all of a change, or nothing |
| `opening` | what a plan lacks before people can write by it; opening and closing |
| `costing` | what it costs, how long it takes, which wage it pays |
"""

from crowdrag.studies.activities import Readiness

from .changing import (
    BadPlan,
    Terms,
    add_style,
    change,
    change_consent,
    change_instructions,
    change_survey,
    ensure,
    get,
)
from .costing import Costs, costs, promised_wage
from .opening import NotReady, close, open, readiness  # noqa: A004 -- a plan is opened

__all__ = [
    "BadPlan",
    "Costs",
    "NotReady",
    "Readiness",
    "Terms",
    "add_style",
    "change",
    "change_consent",
    "change_instructions",
    "change_survey",
    "close",
    "costs",
    "ensure",
    "get",
    "open",
    "promised_wage",
    "readiness",
]
