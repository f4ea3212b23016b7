"""Tables of judging: campaigns, their questions, questionnaires, and judgments as presented."""

from collections.abc import Iterator
from typing import Any

from django.db.models import OuterRef, Subquery

from annotation.enums import AssignmentState
from annotation.models import Assignment, Campaign, CampaignDimension, Dimension, Judgment, QuestionnaireItem

from ...enums import TextSource
from ..choices import Passages
from .content_table import ContentColumn, ContentTable, Row
from .source import Source

CHUNK = 2000
_CAMPAIGN = ContentColumn("campaign", "text", False, "The campaign's name.", "campaigns.campaign")
_PERSON = ContentColumn("participant", "text", False, "The judge.", "participants.participant")
_QUESTIONNAIRE = ContentColumn("questionnaire", "text", False, "The study's ID of the questionnaire.")
_DIMENSION = ContentColumn("dimension", "text", False, "The dimension's name.", "dimensions.dimension")
_DIMENSION_VERSION = ContentColumn("dimension_version", "integer", False, "The version of the dimension.")


def tables(source: Source) -> Iterator[ContentTable]:
    """Yield the selected tables."""
    if source.choices.judgments:
        yield from (
            campaigns(source), dimensions(source), campaign_dimensions(source), questionnaires(source),
            judgments(source),
        )  # fmt: skip


def campaigns(source: Source) -> ContentTable:
    """Return the campaigns."""
    columns = (
        ContentColumn("campaign", "text", False, "Its name.", is_free_text=True),
        ContentColumn(
            "kind",
            "text",
            False,
            "What is judged: pairs or single responses.",
            values=("PAIRWISE", "POINTWISE", "EXPERT"),
        ),
        ContentColumn("judges", "text", False, "Who judges.", values=("CROWD", "EXPERT", "MODEL")),
        ContentColumn(
            "inference", "text", True, "The prompt type of a model: all dimensions at once, or one at a time."
        ),
        ContentColumn("k", "integer", False, "Target number of judgments per item and dimension."),
        ContentColumn("instructions", "text", True, "The instructions for judges, in Markdown.", is_free_text=True),
        ContentColumn("is_simulated", "boolean", False, "Whether it is simulated, not made by a person."),
    )

    def rows() -> Iterator[Row]:
        campaigns_of_study = Campaign.objects.filter(study=source.study).select_related("instructions").order_by("pk")
        for campaign in campaigns_of_study.iterator(CHUNK):
            yield {
                "campaign": campaign.name,
                "kind": campaign.kind,
                "judges": campaign.judges,
                "inference": campaign.inference or None,
                "k": campaign.k,
                "instructions": campaign.instructions.text if campaign.instructions else None,
                "is_simulated": campaign.is_simulated or source.study.is_simulated,
            }

    return ContentTable("campaigns", "A collection of judgments.", columns, rows, ("campaign",))


def dimensions(source: Source) -> ContentTable:
    """Return the dimensions."""
    columns = (
        ContentColumn("dimension", "text", False, "Its name."),
        ContentColumn("dimension_version", "integer", False, "Version number, from 1. A version never changes."),
        ContentColumn("label", "text", False, "What readers see.", is_free_text=True),
        ContentColumn("question", "text", False, "The question.", is_free_text=True),
        ContentColumn("description", "text", True, "What it means.", is_free_text=True),
        ContentColumn(
            "options", "json", False, "Its options from the lowest value: value and label.", is_free_text=True
        ),
    )
    names = tuple(column.name for column in columns)

    def rows() -> Iterator[Row]:
        dimensions_of_study = Dimension.objects.filter(study=source.study).order_by("pk")
        read = ("name", "version", "label", "question", "description", "options")
        for values in dimensions_of_study.values_list(*read).iterator(CHUNK):
            row = dict(zip(names, values, strict=True))
            yield row | {"description": row["description"] or None}

    meaning = "A question about each item."
    return ContentTable("dimensions", meaning, columns, rows, ("dimension", "dimension_version"))


def campaign_dimensions(source: Source) -> ContentTable:
    """Return the dimensions of each campaign."""
    columns = (
        _CAMPAIGN,
        _DIMENSION,
        _DIMENSION_VERSION,
        ContentColumn("position", "integer", False, "Its position on the page."),
    )
    names = tuple(column.name for column in columns)

    def rows() -> Iterator[Row]:
        asked_dimensions = CampaignDimension.objects.filter(campaign__study=source.study).order_by(
            "campaign_id", "position", "pk"
        )
        read = ("campaign__name", "dimension__name", "dimension__version", "position")
        for values in asked_dimensions.values_list(*read).iterator(CHUNK):
            yield dict(zip(names, values, strict=True))

    key = ("campaign", "dimension", "dimension_version")
    return ContentTable("campaign_dimensions", "A dimension of a campaign.", columns, rows, key)


def questionnaires(source: Source) -> ContentTable:
    """Return the questionnaires with their participants."""
    columns = [
        _CAMPAIGN,
        _QUESTIONNAIRE,
        _PERSON,
        ContentColumn("is_included", "boolean", False, "Whether the answers are included in analyses."),
        ContentColumn("submitted_at", "time", True, "When it was submitted."),
        ContentColumn("seconds", "number", True, "Time from assignment to submission."),
        ContentColumn("active_seconds", "number", True, "Active time."),
    ]
    if source.choices.comments:
        columns.append(ContentColumn("comment", "text", True, "The judge's comment at the end.", is_free_text=True))
    read = (
        "pk", "participant_id", "questionnaire__campaign_id", "questionnaire__campaign__name",
        "questionnaire__external_id", "is_included", "submitted_at", "seconds", "active_seconds", "comment",
    )  # fmt: skip

    def rows() -> Iterator[Row]:
        assignments = Assignment.objects.filter(
            questionnaire__campaign__study=source.study, state=AssignmentState.ACCEPTED
        )
        for row in assignments.order_by("pk").values(*read).iterator(CHUNK):
            # Skip people all of whose judgments are left out.
            if not source.selection.assignments[row["pk"]] and row["participant_id"] in source.selection.participants:
                yield _questionnaire(source, row)

    key = ("campaign", "questionnaire", "participant")
    return ContentTable("questionnaires", "A questionnaire answered by one judge.", tuple(columns), rows, key)


def _questionnaire(source: Source, row: dict[str, Any]) -> Row:
    permission = source.selection.permissions.judge(row["participant_id"], row["questionnaire__campaign_id"])
    times_released, clock = not permission.timing, source.clock
    released_row: Row = {
        "campaign": row["questionnaire__campaign__name"],
        "questionnaire": row["questionnaire__external_id"],
        "participant": source.names.of(row["participant_id"]),
        "is_included": row["is_included"],
        "submitted_at": clock.time(row["submitted_at"], is_released=times_released),
        "seconds": clock.seconds(row["seconds"], is_released=times_released),
        "active_seconds": clock.seconds(row["active_seconds"], is_released=times_released),
    }
    if source.choices.comments:
        released_row["comment"] = released_comment(
            source, TextSource.COMMENT, row["pk"], row["comment"], permission.text
        )
    return released_row


def judgments(source: Source) -> ContentTable:
    """Return the judgments as given, in the presented order of responses."""
    chosen = source.choices
    passages = "passages.passage" if chosen.passages != Passages.IDS else ""
    columns = [
        _CAMPAIGN,
        _QUESTIONNAIRE,
        _PERSON,
        ContentColumn("position", "integer", True, "The position of the item in the questionnaire."),
        ContentColumn("topic", "text", False, "The topic.", "topics.topic"),
        ContentColumn("response_a", "text", True, "For pairs: the left response.", "responses.response"),
        ContentColumn("response_b", "text", True, "For pairs: the right response.", "responses.response"),
        ContentColumn("response", "text", True, "For responses and statements: the response.", "responses.response"),
        ContentColumn("statement", "integer", True, "For statements: the position in the response, from 0."),
        ContentColumn("passage", "text", True, "For statements: the cited passage.", passages),
        ContentColumn(
            "item", "text", True, "The item's name in the source, if the source names no response of this study."
        ),
        _DIMENSION,
        _DIMENSION_VERSION,
        ContentColumn("value", "integer", False, "The answer: on a pair -1 is A (left), 0 neither, 1 is B (right)."),
        ContentColumn("is_unsure", "boolean", False, "Whether the judge said that they are unsure about the item."),
        ContentColumn(
            "repeat", "integer", False, "Number of the repetition, from 0. The first (0) is the one that counts."
        ),
        ContentColumn("is_included", "boolean", False, "Whether it is included in analyses."),
        ContentColumn("judged_at", "time", True, "When it was last changed."),
    ]
    if chosen.justifications:
        columns.append(ContentColumn("justification", "text", True, "The judge's justification.", is_free_text=True))
    items = QuestionnaireItem.objects.filter(questionnaire=OuterRef("assignment__questionnaire"), item=OuterRef("item"))
    read = tuple(_READ.values())

    def rows() -> Iterator[Row]:
        judgments_of_study = (
            Judgment.objects.of_study(source.study).filter(assignment__state=AssignmentState.ACCEPTED).with_confidence()
        )
        ordered = judgments_of_study.annotate(place=Subquery(items.values("position")[:1])).order_by("pk")
        for values in ordered.values_list(*read).iterator(CHUNK):
            row = dict(zip(_READ, values, strict=True))
            if not source.selection.assignments[row["assignment"]] and source.selection.may_be_seen(
                row["a"], row["b"], row["alone"]
            ):
                yield _judgment(source, row)

    key = (
        "campaign", "questionnaire", "participant", "response_a", "response_b", "response", "statement", "passage",
        "item", "dimension",
    )  # fmt: skip
    meaning = "An answer to one dimension of one item, as presented."
    return ContentTable("judgments", meaning, tuple(columns), rows, (*key, "dimension_version", "repeat"))


_READ = {
    "pk": "pk",
    "assignment": "assignment_id",
    "in_campaign": "item__campaign_id",
    "a": "item__pair__a_id",
    "b": "item__pair__b_id",
    "alone": "item__response_id",
    "campaign": "item__campaign__name",
    "questionnaire": "assignment__questionnaire__external_id",
    "participant": "assignment__participant_id",
    "position": "place",
    "topic": "item__topic__external_id",
    "response_a": "item__pair__a__external_id",
    "response_b": "item__pair__b__external_id",
    "response": "item__response__external_id",
    "statement": "item__statement",
    "passage": "item__retrieved__passage__external_id",
    "item": "item__external_id",
    "dimension": "dimension__name",
    "dimension_version": "dimension__version",
    "value": "value",
    "is_unsure": "is_unsure",
    "repeat": "repeat",
    "is_included": "assignment__is_included",
    "judged_at": "judged_at",
    "justification": "justification",
}
_INSIDE = ("pk", "assignment", "in_campaign", "a", "b", "alone")


def _judgment(source: Source, row: dict[str, Any]) -> Row:
    pk, _assignment, campaign, *_responses = (row.pop(name) for name in _INSIDE)
    person = row["participant"]
    permission = source.selection.permissions.judge(person, campaign)
    reason = row.pop("justification")
    row["participant"] = source.names.of(person)
    row["item"] = row["item"] or None
    row["judged_at"] = source.clock.time(row["judged_at"], is_released=not permission.timing)
    if source.choices.justifications:
        row["justification"] = released_comment(source, TextSource.JUSTIFICATION, pk, reason, permission.text)
    return row


def released_comment(source: Source, where: TextSource, pk: int, text: str, withheld: str) -> str | None:
    """Return a comment on judgments as far as it may be released; None if it may not."""
    blackout = source.selection.blackout
    if not text or withheld or blackout.reason(where, pk):
        return None
    return blackout.text(where, pk, text)
