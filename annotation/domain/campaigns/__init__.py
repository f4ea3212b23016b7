"""Campaigns before they are launched: what is judged, by whom, for what; drawing, forecast, opening and closing.

| module | what |
|---|---|
| `design` | how questionnaires are made, as it is kept with the campaign |
| `changing` | making a draft, and changing it: all of a change, or nothing |
| `questions` | the dimensions that it asks |
| `texts` | the instructions and the consent text that it begins with |
| `drafts` | copying a campaign, deleting a draft |
| `choosing` | what there is to judge: responses by filter, hard items by rule |
| `drawing` | pairs, sides and questionnaires: pure |
| `building` | the rows of what was drawn |
| `forecasting` | people, hours, money |
| `opening` | what is missing; opening, pausing, closing |
"""

from crowdrag.studies.activities import Readiness

from .building import build, is_drawn, measures
from .changing import SUGGESTED, Terms, change, change_consent, change_instructions, draft, terms_of, usual_instructions
from .design import Design
from .design import read as read_design
from .drafts import clone, delete
from .forecasting import Forecast, forecast, reckon
from .opening import close, open, pause, readiness, reopen  # noqa: A004 -- a campaign is opened
from .problems import BadCampaign, CampaignProblem, NotDraft, NotReady, WrongState

__all__ = [
    "SUGGESTED",
    "BadCampaign",
    "CampaignProblem",
    "Design",
    "Forecast",
    "NotDraft",
    "NotReady",
    "Readiness",
    "Terms",
    "WrongState",
    "build",
    "change",
    "change_consent",
    "change_instructions",
    "clone",
    "close",
    "delete",
    "draft",
    "forecast",
    "is_drawn",
    "measures",
    "open",
    "pause",
    "read_design",
    "readiness",
    "reckon",
    "reopen",
    "terms_of",
    "usual_instructions",
]
