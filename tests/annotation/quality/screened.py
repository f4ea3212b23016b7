"""Questionnaires that were handed in, for tests of screening."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np

from annotation.enums import AssignmentState
from annotation.models import Assignment, Judgment
from crowdrag.recruitment.models import PlatformStudy, Submission
from tests.annotation import judge_actions, open_campaign
from tests.annotation.quality import planted_judges
from tests.factories import NOW

LONG = timedelta(minutes=30)
REASON = (
    "You answered all fifteen items in four minutes, which is less than the texts take to skim, and gave the same "
    "answer to each question."
)


def handed_in(
    here: open_campaign.World, *, after: timedelta = LONG, start: datetime = NOW, values: Any = None, session: str = ""
) -> Assignment:
    """Somebody's questionnaire; `values(item, dimension)` says what they answer, by numbers on the page."""
    one = judge_actions.claim(here, here.judge(session=session), start, session=session)
    answers = []
    for number, (item, dimension) in enumerate(here.questions(one)):
        place = divmod(number, len(here.dimensions))
        value = values(*place) if values else 1 - 2 * (sum(place) % 2)
        answers.append(Judgment(assignment=one, item=item, dimension=dimension, value=value, judged_at=start + after))
    # At once, as the page does one by one: how answers are taken is tried elsewhere.
    Judgment.objects.bulk_create(answers)
    return judge_actions.hand_in(one, start + after)


def wide(**fields: Any) -> open_campaign.World:
    """A campaign whose questionnaires have fifteen items and seven dimensions."""
    return open_campaign.world(
        **{"topics": 1, "responses": 6, "per_questionnaire": 15, "dimensions": 7, "k": 5} | fields
    )


def answers(votes: planted_judges.Votes) -> Any:
    return lambda item, dimension: int(votes[item, dimension])


def crowd(here: open_campaign.World, kinds: list[planted_judges.Judge], seed: int = 0) -> list[Assignment]:
    """Let a judge of each kind hand in the same questionnaire."""
    rng = np.random.default_rng(seed)
    items = planted_judges.truth(rng)
    return [handed_in(here, values=answers(kind(rng, items))) for kind in kinds]


def advertised(here: open_campaign.World) -> PlatformStudy:
    """The campaign's study on a platform."""
    return PlatformStudy.objects.create(
        study=here.study, purpose=here.purpose, link=here.link, external_id=f"there-{here.campaign.pk}", name="Compare",
        internal_name=f"campaign-{here.campaign.pk}", description="Compare answers.", reward=400, places=9, minutes=25,
        created_at=NOW,
    )  # fmt: skip


def sent(here: open_campaign.World, session: str = "visit-1", **more: Any) -> Assignment:
    """A questionnaire that somebody from the platform handed in."""
    there = PlatformStudy.objects.filter(study=here.study, purpose=here.purpose).first() or advertised(here)
    done = handed_in(here, session=session, **more)
    Submission.objects.create(
        platform_study=there, external_id=session, participant=done.participant, first_heard_at=NOW
    )
    return done


def state(assignment: Assignment) -> AssignmentState:
    return AssignmentState(Assignment.objects.get(pk=assignment.pk).state)
