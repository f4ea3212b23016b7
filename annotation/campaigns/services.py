"""Create, change, copy and delete campaigns.

A text that changes becomes a new version; what was read stays as it was.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from crowdrag.assignments.terms import set_terms
from crowdrag.recruitment.models import PlatformStudy
from crowdrag.studies import codes
from crowdrag.studies.models import ConsentText, EntryLink, Study
from writing.corpus import versions
from writing.corpus.imports import bulk
from writing.models import Style, Topic

from ..enums import CampaignKind, CampaignState, Judges
from ..judging import claims
from ..models import Assignment, Campaign, Instructions, Item, Judgment, KnownLabel, TrainingItem
from ..quality import known_labels
from . import default_texts, questionnaires, questions
from .design import PICKED, Design, check_design, dump_design, read_design
from .problems import BadCampaign, NotDraft

CONSENT: Final = "judging"
#: So many of what is unknown are named.
MOST_SHOWN: Final = 5
# What is asked of people as the paper did; a suggestion, for the platform (crowdrag25, 3.2.2).
SUGGESTED: Final[Mapping[str, Any]] = {
    "languages": ["en"],
    "countries": ["AU", "CA", "GB", "IE", "NZ", "US"],
    "approval_rate": 99,
    "completed": 500,
}
# What people were promised, or what their work is measured by: it stays once the campaign was opened.
PROMISED: Final = ("k", "minutes", "allows_comments", "shows_passages")


def terms_of(campaign: Campaign) -> dict[str, Any]:
    """Return a campaign's terms."""
    return {name: getattr(campaign, name) for name in Campaign.TERMS}


@transaction.atomic
def create_draft(
    *,
    study: Study,
    name: str,
    kind: str = CampaignKind.PAIRWISE,
    now: datetime,
    source: Campaign | None = None,
    terms: Mapping[str, Any] | None = None,
    design: Design | None = None,
) -> Campaign:
    """Make a campaign that nobody sees yet, with the usual questions, instructions and consent text.

    Experts judge what another campaign's people judged; whoever else takes part is of the crowd.

    Parameters
    ----------
    source
        of an expert campaign: whose items are asked again.
    terms
        of `Campaign.TERMS` those that are not as usual. `eligibility` is what the recruitment platform is told:
        `languages` (ISO 639-1), `countries` (ISO 3166-1 alpha-2), `approval_rate` in percent, `completed` tasks.

    Raises
    ------
    BadCampaign
    """
    is_expert = kind == CampaignKind.EXPERT
    problems = _source_problems(study, kind, source)
    campaign = Campaign(
        study=study,
        kind=kind,
        judges=Judges.EXPERT if is_expert else Judges.CROWD,
        source=source,
        created_at=now,
        is_simulated=study.is_simulated,
    )
    usual: dict[str, Any] = {"k": 3} if is_expert else {"eligibility": dict(SUGGESTED)}
    _set_terms(campaign, usual | dict(terms or {}) | {"name": name}, problems)
    if problems:
        raise BadCampaign(problems)
    design_of_draft = _fitting(campaign, check_design(design or Design()))
    campaign.design = dump_design(design_of_draft, {})
    bulk.lock_imports(study)  # versions are counted up one after the other, and names are looked at
    _refuse_duplicate_name(campaign)
    campaign.save()
    questions.set_questions(campaign, questions.default_questions(campaign, now))
    campaign.instructions = _instructions(campaign, default_instructions(campaign), now)
    campaign.consent_text = _consent(study, default_texts.consent(study), now)
    campaign.save()
    return campaign


@transaction.atomic
def change_terms(
    *, campaign: Campaign, terms: Mapping[str, Any], design: Design | None = None, now: datetime
) -> Campaign:
    """Change a campaign's terms, and while it is a draft its design; another design drops what was drawn.

    Instructions that are the usual ones follow the design; those that somebody wrote stay.

    Once it was opened, what people were promised stays: the pay may rise, for questionnaires that are given out from
    then on.

    Raises
    ------
    BadCampaign, NotDraft
        Nothing was changed then.
    """
    campaign = questionnaires.lock_campaign(campaign)
    before, was = terms_of(campaign), read_design(campaign.design)
    problems: dict[str, str] = {}
    _set_terms(campaign, terms, problems)
    if campaign.state != CampaignState.DRAFT:
        _keep_promises(campaign, before, problems)
        if design is not None and check_design(design) != was:
            raise NotDraft(campaign)
    if problems:
        raise BadCampaign(problems)
    _refuse_duplicate_name(campaign)
    if design is not None and (new_design := _fitting(campaign, check_design(design))) != was:
        is_usual = _has_usual_instructions(campaign)
        questionnaires.clear(campaign)
        campaign.design = dump_design(new_design, campaign.design)
        if is_usual:
            bulk.lock_imports(campaign.study)
            campaign.instructions = _instructions(campaign, default_instructions(campaign), now)
    campaign.save()
    return campaign


@transaction.atomic
def change_instructions(*, campaign: Campaign, text: str, now: datetime) -> Campaign:
    """Change what judges are told: a new version, unless the text is one that there was.

    Raises
    ------
    BadCampaign, NotDraft
    """
    text = default_texts.clean_text(text)
    if not text:
        raise BadCampaign({"text": "Enter the instructions."})
    campaign = _draft(campaign)
    campaign.instructions = _instructions(campaign, text, now)
    campaign.save(update_fields=["instructions"])
    return campaign


@transaction.atomic
def change_consent(*, campaign: Campaign, text: str, text_licence: str, timing_licence: str, now: datetime) -> Campaign:
    """Change what judges are asked to agree to.

    Raises
    ------
    BadCampaign, NotDraft
    """
    content = {
        "text": default_texts.clean_text(text),
        "text_licence": default_texts.clean_line(text_licence),
        "log_licence": "",
        "timing_licence": default_texts.clean_line(timing_licence),
    }
    problems = codes.unknown_licences(content)
    if not content["text"]:
        problems["text"] = "Enter the consent text."
    if not content["text_licence"]:
        problems["text_licence"] = "Enter the licence of the answers, for example CC-BY-4.0."
    if problems:
        raise BadCampaign(problems)
    campaign = _draft(campaign)
    campaign.consent_text = _consent(campaign.study, content, now)
    campaign.save(update_fields=["consent_text"])
    return campaign


def default_instructions(campaign: Campaign) -> str:
    """Return what judges of this campaign are told unless the study says otherwise: as it is asked and drawn now."""
    return _usual(campaign, read_design(campaign.design).checks)


def _usual(campaign: Campaign, checks: int) -> str:
    kind = CampaignKind.POINTWISE if _is_pointwise(campaign) else CampaignKind.PAIRWISE
    items = read_design(campaign.design).items_per_questionnaire
    return default_texts.instructions(
        campaign.study, kind, questions.questions_of(campaign), items=items, checks=checks
    )


def _has_usual_instructions(campaign: Campaign) -> bool:
    """Say whether nobody edited what judges are told; checks may have been set since it was written."""
    text = campaign.instructions.text if campaign.instructions else ""
    return text in {_usual(campaign, checks) for checks in (0, 1)}


def _is_pointwise(campaign: Campaign) -> bool:
    return CampaignKind.POINTWISE in {campaign.kind, campaign.source.kind if campaign.source else None}


def _draft(campaign: Campaign) -> Campaign:
    campaign = questionnaires.lock_campaign(campaign)
    if campaign.state != CampaignState.DRAFT:
        raise NotDraft(campaign)
    bulk.lock_imports(campaign.study)
    return campaign


def _source_problems(study: Study, kind: str, source: Campaign | None) -> dict[str, str]:
    if kind not in CampaignKind.values:
        return {"kind": "This campaign type does not exist."}
    if kind != CampaignKind.EXPERT:
        return {"source": "Only expert campaigns can have a source campaign."} if source else {}
    if source is None:
        return {"source": "Choose the source campaign for the experts."}
    if source.study_id != study.pk or source.judges == Judges.MODEL:
        return {"source": "Choose a campaign of this study with human judges."}
    return {}


def _set_terms(campaign: Campaign, terms: Mapping[str, Any], problems: dict[str, str]) -> None:
    values = dict(terms)
    if "name" in values:
        values["name"] = default_texts.clean_line(values["name"])
    if "eligibility" in values:
        values["eligibility"] = _eligibility(values["eligibility"], problems)
    problems |= set_terms(campaign, values)


def _eligibility(eligibility: Mapping[str, Any], problems: dict[str, str]) -> dict[str, Any]:
    values = {name: eligibility.get(name) for name in SUGGESTED}
    for name, is_known in (("languages", codes.is_language), ("countries", codes.is_country)):
        if unknown := [code for code in values[name] or [] if not is_known(code)]:
            problems[name] = "Unknown codes: {unknown}. Enter ISO codes separated by commas, such as {codes}.".format(
                unknown=", ".join(unknown),
                codes=", ".join(SUGGESTED[name][:2]),
            )  # fmt: skip
    for name, most in (("approval_rate", 100), ("completed", 1_000_000)):
        number = values[name]
        if number is not None and not 0 <= number <= most:
            problems[name] = f"Enter a number from {0} to {most}."
    return {name: value for name, value in values.items() if value not in (None, [])}


def _keep_promises(campaign: Campaign, before: Mapping[str, Any], problems: dict[str, str]) -> None:
    """Note what somebody was promised and would not get."""
    for name in PROMISED:
        if getattr(campaign, name) != before[name]:
            problems[name] = "The campaign has been launched. You cannot change this."
    if (campaign.pay or 0) < (before["pay"] or 0):
        problems["pay"] = "The campaign has been launched. You can raise the pay but not lower it."


def _refuse_duplicate_name(campaign: Campaign) -> None:
    same = Campaign.objects.filter(study=campaign.study_id, name=campaign.name).exclude(pk=campaign.pk)
    if same.exists():
        raise BadCampaign({"name": "The study already has a campaign with this name. Choose another name."})


def _fitting(campaign: Campaign, design: Design) -> Design:
    """Return a design whose topics and styles are the study's, and whose picked items are the source's."""
    for name, model, column in (("topics", Topic, "external_id"), ("styles", Style, "name")):
        picked = set(getattr(design, name))
        rows = model.objects.filter(study=campaign.study, **{f"{column}__in": picked})
        if unknown := sorted(picked - set(rows.values_list(column, flat=True))):
            shown = ", ".join(unknown[:MOST_SHOWN]) + (" …" if len(unknown) > MOST_SHOWN else "")
            raise BadCampaign({name: f"Not in this study: {shown}."})
    if design.rule != PICKED or campaign.source is None:
        return design
    known = set(Item.objects.filter(campaign=campaign.source, pk__in=design.picked).values_list("pk", flat=True))
    if missing := [pk for pk in design.picked if pk not in known]:
        raise BadCampaign({"picked": f"{len(missing)} of the items do not belong to that campaign."})
    return design


def _instructions(campaign: Campaign, text: str, now: datetime) -> Instructions:
    name = f"judging-{campaign.kind.lower()}"
    return versions.ensure(Instructions, study=campaign.study, name=name, now=now, text=text)[0]


def _consent(study: Study, content: Mapping[str, str], now: datetime) -> ConsentText:
    return versions.ensure(ConsentText, study=study, name=CONSENT, now=now, **content)[0]


LONGEST_NAME: Final = 100


@transaction.atomic
def clone_campaign(*, campaign: Campaign, name: str = "", now: datetime) -> Campaign:
    """Make a draft with the same terms, design, questions, texts and known labels; nothing that was drawn or judged.

    Parameters
    ----------
    name
        of the copy; without one that of the campaign with "(copy)" behind it.

    Raises
    ------
    BadCampaign
        if there is a campaign of this name.
    """
    campaign = questionnaires.lock_campaign(campaign)
    copy = create_draft(
        study=campaign.study, name=name or _copy_name(campaign), kind=campaign.kind, now=now, source=campaign.source,
        terms=terms_of(campaign),
    )  # fmt: skip
    copy.design = campaign.design
    copy.instructions, copy.consent_text = campaign.instructions, campaign.consent_text
    copy.save(update_fields=["design", "instructions", "consent_text"])
    questions.set_questions(copy, questions.questions_of(campaign))
    _copy_known(campaign, copy)
    return copy


@transaction.atomic
def delete_draft(*, campaign: Campaign) -> None:
    """Delete a draft with all that was drawn for it; versions of its texts stay with the study.

    Raises
    ------
    NotDraft
        once it was opened or judged.
    BadCampaign
        if something else rests on it: another campaign, a link that people have, or a study on a platform.
    """
    campaign = questionnaires.lock_campaign(campaign)
    is_judged = Assignment.objects.filter(questionnaire__campaign=campaign).exists()
    if campaign.state != CampaignState.DRAFT or is_judged or Judgment.objects.filter(item__campaign=campaign).exists():
        raise NotDraft(campaign)
    purpose = claims.purpose(campaign)
    reasons = [
        (campaign.asked_again.exists(), "Another campaign uses the items of this one. Delete that campaign first."),
        (
            EntryLink.objects.filter(study=campaign.study, purpose=purpose, closed_at=None).exists(),
            "The campaign has an open link that people may have received. Close the link first.",
        ),
        (
            PlatformStudy.objects.filter(study=campaign.study, purpose=purpose).exists(),
            "The campaign has a study on a recruitment platform, so you cannot delete it.",
        ),
    ]
    if problems := [reason for applies, reason in reasons if applies]:
        raise BadCampaign({"": " ".join(problems)})
    campaign.training.all().delete()
    campaign.questionnaires.all().delete()
    campaign.items.all().delete()
    campaign.delete()


def _copy_name(campaign: Campaign) -> str:
    taken = set(Campaign.objects.filter(study=campaign.study_id).values_list("name", flat=True))
    for number in range(1, len(taken) + 2):
        end = f" ({'copy'})" if number == 1 else f" ({'copy'} {number})"
        name = campaign.name[: LONGEST_NAME - len(end)] + end
        if name not in taken:
            break
    return name


def _copy_known(campaign: Campaign, copy: Campaign) -> None:
    """Copy the items with known labels and those to learn from."""
    copies: dict[int, Item] = {}
    for item in known_labels.chosen_items(campaign):
        copies[item.pk] = Item.objects.create(
            campaign=copy,
            topic_id=item.topic_id,
            pair_id=item.pair_id,
            response_id=item.response_id,
            external_id=item.external_id,
        )
    labels = KnownLabel.objects.filter(item__in=copies)
    KnownLabel.objects.bulk_create(
        KnownLabel(
            item=copies[row.item_id], dimension_id=row.dimension_id, value=row.value, explanation=row.explanation
        )
        for row in labels
    )
    TrainingItem.objects.bulk_create(
        TrainingItem(campaign=copy, item=copies[row.item_id], position=row.position) for row in campaign.training.all()
    )
