"""The passages that an item's responses cite, for judges of campaigns that show them.

Contains only their texts, because the source of a passage may reveal whose response cites it.
"""

from writing.models import RetrievedPassage

from ..models import Assignment, Item, QuestionnaireItem


def load(assignment: Assignment, item: int) -> dict[int, str] | None:
    """Return the cited passages of an item by their numbers in the text; None if the judge may not see them."""
    campaign = assignment.questionnaire.campaign
    entries = QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id, item=item)
    if not campaign.shows_passages or not entries.exists():
        return None
    judged = Item.objects.select_related("pair").get(pk=item)
    responses = [judged.pair.a_id, judged.pair.b_id] if judged.pair else [judged.response_id]
    cited = RetrievedPassage.objects.filter(citations__statement__response__in=responses).distinct()
    return dict(cited.order_by("rank").values_list("rank", "passage__text"))
