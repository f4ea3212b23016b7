"""Somebody before a questionnaire, in the browser: responses of some length, seven questions, checks."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pgtrigger
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from annotation.campaign_types import default_dimensions
from annotation.enums import CampaignKind
from annotation.judging import answers as judging_answers
from annotation.judging import claims as judging_claims
from annotation.judging import submission
from annotation.models import Assignment, AttentionCheck, CampaignDimension, CheckAnswer, Dimension, Judgment
from crowdrag.studies.models import Participant
from tests.annotation.judge_actions import OPTIONS
from tests.annotation.open_campaign import World, world
from tests.pages.editor_study import enter
from writing.models import Response, Topic

SENTENCES = (
    "Wild birds follow the length of the day, and at its shortest most of them rest [0].",
    "Among garden birds, the robin sings through the winter, males and females alike [3, 7].",
    "Frost alone drives few of them away; what matters is whether insects can be found [12].",
    "Some move from the hills to the coast, and are back before the leaves [4].",
)
INSTRUCTIONS = "Read both responses, then answer.\n\n- There is mostly no right answer.\n- Look nothing up."


def response_text(number: int) -> str:
    """A text of some 250 words: paragraphs, or a list."""
    turned = [SENTENCES[(number + n) % 4] for n in range(12)]
    if number % 2:
        return "What one can say:\n" + "\n".join(f"- **Point {n}**: {each}" for n, each in enumerate(turned, 1))
    return "\n\n".join(" ".join(turned[n : n + 4]) for n in range(0, 12, 4))


@dataclass
class Sheet:
    """A questionnaire with whose it is."""

    world: World
    judge: Participant
    mine: Assignment = field(init=False)

    @property
    def path(self) -> str:
        return self.address("questionnaire")

    def address(self, name: str) -> str:
        return reverse(f"judging_{name}", args=[self.world.study.slug, self.world.campaign.pk, self.mine.external_id])

    @property
    def start(self) -> str:
        return reverse("judging_start", args=[self.world.study.slug, self.world.campaign.pk])

    def answers(self) -> dict[tuple[int, int], int]:
        """What the server has."""
        rows = Judgment.objects.filter(assignment=self.mine)
        return {(item, dimension): value for item, dimension, value in rows.values_list("item", "dimension", "value")}

    def attended(self) -> list[int]:
        return list(CheckAnswer.objects.filter(assignment=self.mine).values_list("value", flat=True))

    def complete(self) -> None:
        """Answer whatever is open, with a reason where one is asked for."""
        for item, dimension, check in submission.missing_answers(self.mine):
            now = {"assignment": self.mine, "now": timezone.now()}
            if check is not None:
                judging_answers.answer_check(check=check, value=1, revision=1, **now)
                continue
            known = Judgment.objects.filter(assignment=self.mine, item=item, dimension=dimension).first()
            asked = {"item": item, "dimension": dimension, "revision": known.revision + 1 if known else 1}
            judging_answers.answer(value=1, justification="so", **asked, **now)

    def state(self) -> str:
        return Assignment.objects.values_list("state", flat=True).get(pk=self.mine.pk)


def make(
    *,
    items: int = 3,
    checks: int = 1,
    justified: bool = False,
    claims: bool = True,
    now: datetime | None = None,
    **fields: Any,
) -> Sheet:
    """A campaign with the seven questions, and somebody with a questionnaire of it in hand."""
    kind = fields.get("kind", CampaignKind.PAIRWISE)
    responses = items if kind == CampaignKind.POINTWISE else next(n for n in range(2, 99) if n * (n - 1) // 2 >= items)
    here = world(topics=1, responses=responses, per_questionnaire=items, **{"dimensions": 0, "k": 2, **fields})
    ensure = (
        default_dimensions.ensure_pointwise if kind == CampaignKind.POINTWISE else default_dimensions.ensure_pairwise
    )
    here.dimensions = ensure(study=here.study, now=timezone.now())
    if justified:
        here.dimensions[-1] = _justified(here.dimensions[-1])
    CampaignDimension.objects.bulk_create(
        CampaignDimension(campaign=here.campaign, dimension=each, position=n) for n, each in enumerate(here.dimensions)
    )
    with pgtrigger.ignore():
        Topic.objects.filter(study=here.study).update(query="What do wild birds do in winter where frost is rare?")
        for n, each in enumerate(here.responses):
            Response.objects.filter(pk=each.pk).update(text=response_text(n))
        type(here.campaign.instructions).objects.filter(pk=here.campaign.instructions_id).update(text=INSTRUCTIONS)
    AttentionCheck.objects.bulk_create(
        AttentionCheck(
            questionnaire=here.questionnaires[0], position=n, text="To show that you read this, choose B.",
            options=OPTIONS, expected=1,
        )
        for n in range(checks)
    )  # fmt: skip
    judge = here.judge()
    at = Sheet(here, judge)
    if claims:
        at.mine = judging_claims.claim(campaign=here.campaign, participant=judge, now=now or timezone.now())
    return at


def _justified(dimension: Dimension) -> Dimension:
    """The same question, asking why."""
    copy = Dimension(
        study=dimension.study, name=dimension.name, version=dimension.version + 1, question=dimension.question,
        label=dimension.label, description=dimension.description, options=dimension.options, asks_justification=True,
        created_at=timezone.now(),
    )  # fmt: skip
    copy.save()
    return copy


def open_sheet(page: Page, base: str, at: Sheet) -> None:
    """Open the questionnaire and wait until it takes answers."""
    enter(page.context, base, at.judge)
    page.goto(base + at.path)
    page.bring_to_front()  # else another page of the browser may have the focus, and this one none to give
    expect(page.locator("#save-state")).not_to_have_attribute("data-state", "opening")


def state(page: Page) -> Locator:
    """The line that says whether all is saved."""
    return page.locator("#save-state")


def saved(page: Page) -> None:
    """Wait until the page says that all is saved."""
    expect(state(page)).to_have_attribute("data-state", "saved", timeout=20_000)


def questions(page: Page) -> Locator:
    """The questions of the item that is shown."""
    return page.locator("section.judging-item:not([hidden]) fieldset.question")


def answer_item(page: Page, choice: int = 0) -> None:
    """Answer every question of the item that is shown by a press, always with the same of its answers."""
    for question in questions(page).all():
        question.locator("label.question-option").nth(choice).click()
