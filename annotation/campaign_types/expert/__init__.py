"""Expert campaigns: invited experts judge items of another campaign again (crowdrag25, 3.3.2)."""

from typing import Final

from ...enums import CampaignKind
from .. import default_dimensions, pairwise
from ..campaign_type import QUESTIONNAIRE_FIELDS, CampaignType

TYPE: Final = CampaignType(
    kind=CampaignKind.EXPERT,
    choice="expert: invited experts re-judge items from another campaign",
    items="Pairs",
    item="item",
    responses=2,
    texts=pairwise.TEXTS,
    question_names=default_dimensions.NAMES,
    design_fields=QUESTIONNAIRE_FIELDS | {"rule", "rule_items"},
    nothing_to_draw="The source campaign has no matching items yet. Items need judgments from at least two people.",
    default_questions=pairwise.default_questions,
    instructions=pairwise.instructions,
    asks_again=True,
)
