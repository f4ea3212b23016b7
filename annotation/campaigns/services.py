"""Create, change, copy and delete campaigns.

A changed text becomes a new version. Earlier versions, which people have read, stay unchanged.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import numpy as np
from django.db import transaction

from crowdrag.assignments.terms import set_terms
from crowdrag.recruitment.models import PlatformStudy
from crowdrag.studies import codes
from crowdrag.studies.models import ConsentText, EntryLink, Study
from writing.corpus import versions
from writing.corpus.imports import bulk
from writing.models import Style, Topic

from ..campaign_types.registry import TYPES, item_type
from ..enums import CampaignKind, CampaignState, Judges
from ..judging import claims
from ..models import Assignment, Campaign, Instructions, Item, Judgment, KnownLabel, TrainingItem
from ..policies import services as policy_services
from ..quality import known_labels
from . import default_texts, goals, questionnaires, questions
from .design import PICKED, Design, check_design, dump_design, read_design
from .problems import BadCampaign, NotDraft

CONSENT: Final = "judging"
#: The largest number of unknown values to name.
MOST_SHOWN: Final = 5
# The paper's requirements (crowdrag25, 3.2.2), as a suggestion for the recruitment platform.
SUGGESTED: Final[Mapping[str, Any]] = {
    "languages": ["en"],
    "countries": ["AU", "CA", "GB", "IE", "NZ", "US"],
    "approval_rate": 99,
    "completed": 500,
}
# Fixed at launch, because people were promised it or because their work is measured by it.
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
    """Create a draft campaign with the default questions, instructions and consent text.

    Experts judge items of another campaign. In all other campaigns, crowd workers judge.

    Parameters
    ----------
    source
        of an expert campaign: the campaign whose items are asked again.
    terms
        those of `Campaign.TERMS` that differ from the defaults. `eligibility` is for the recruitment platform:
        `languages` (ISO 639-1), `countries` (ISO 3166-1 alpha-2), `approval_rate` in percent, `completed` tasks.

    Raises
    ------
    BadCampaign
    """
    problems = _source_problems(study, kind, source)
    is_expert = kind in TYPES and TYPES[kind].asks_again
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
    bulk.lock_imports(study)  # version numbers must be assigned one at a time; names must stay unique
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
    """Change a campaign's terms and, in a draft, its design. A changed design discards the drawn questionnaires.

    Default instructions are updated to the new design. Edited ones are kept.

    After launch, the promised terms are fixed, but the pay can be raised for questionnaires assigned from then on.

    Raises
    ------
    BadCampaign, NotDraft
        Nothing was changed.
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
    if campaign.policy != before["policy"]:
        policy_services.refresh(campaign=campaign, now=now, rng=np.random.default_rng())
    return campaign


@transaction.atomic
def change_instructions(*, campaign: Campaign, text: str, now: datetime) -> Campaign:
    """Change the instructions of a draft. This creates a new version unless one with this text exists.

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
    """Change the consent text of a draft.

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
    """Return the default instructions for the campaign's current questions and design."""
    return _usual(campaign, read_design(campaign.design).checks)


def _usual(campaign: Campaign, checks: int) -> str:
    dimensions = questions.questions_of(campaign)
    return default_texts.instructions(campaign.study, item_type(campaign), dimensions, checks=checks)


def _has_usual_instructions(campaign: Campaign) -> bool:
    """Return whether the instructions were never edited. They may be older than the attention checks."""
    text = campaign.instructions.text if campaign.instructions else ""
    return text in {_usual(campaign, checks) for checks in (0, 1)}


def _draft(campaign: Campaign) -> Campaign:
    campaign = questionnaires.lock_campaign(campaign)
    if campaign.state != CampaignState.DRAFT:
        raise NotDraft(campaign)
    bulk.lock_imports(campaign.study)
    return campaign


def _source_problems(study: Study, kind: str, source: Campaign | None) -> dict[str, str]:
    if kind not in TYPES:
        return {"kind": "This campaign type does not exist."}
    if not TYPES[kind].asks_again:
        return {"source": "Only expert campaigns can have a source campaign."} if source else {}
    if source is None:
        return {"source": "Choose the source campaign for the experts."}
    if source.study_id != study.pk or source.judges == Judges.MODEL:
        return {"source": "Choose a campaign of this study with human judges."}
    return {}


def default_minimum(minutes: int) -> int:
    """Return the default minimum completion time in seconds of questionnaires announced with this many minutes.

    It is the same share of the time as in crowdrag25, 3.2.3 (10 of 25 minutes), and at most those 10 minutes.
    """
    published = Campaign()
    assert published.minimum_seconds is not None
    return min(published.minimum_seconds, round(published.minimum_seconds * minutes / published.minutes))


def _set_terms(campaign: Campaign, terms: Mapping[str, Any], problems: dict[str, str]) -> None:
    """Set the terms. A default minimum completion time follows the announced minutes."""
    values = dict(terms)
    minutes = values.get("minutes")
    if isinstance(minutes, int) and campaign.minimum_seconds == default_minimum(campaign.minutes):
        values.setdefault("minimum_seconds", default_minimum(minutes))
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
    """Add a problem for each promised term that has changed and for lower pay."""
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
    """Return a design; refuse topics and styles that the study lacks, and picked items that the source lacks."""
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
    """Create a draft with the same terms, design, questions, texts, goal and known labels, but no questionnaires.

    Parameters
    ----------
    name
        of the copy; by default the campaign's name with "(copy)".

    Raises
    ------
    BadCampaign
        if a campaign with this name exists.
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
    goals.copy_goal(campaign, copy)
    return copy


@transaction.atomic
def delete_draft(*, campaign: Campaign) -> None:
    """Delete a draft with everything drawn for it. The versions of its texts stay with the study.

    Raises
    ------
    NotDraft
        if it was opened or judged.
    BadCampaign
        if something depends on it: another campaign, a link that people have, or a study on a platform.
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
    """Copy the items with known labels and the training items."""
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
