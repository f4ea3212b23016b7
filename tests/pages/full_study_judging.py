"""A study in which people judge: campaigns in every state, one under way with judges who got as far as they get."""

from datetime import datetime, timedelta

from django.utils import timezone

from annotation.enums import CampaignKind, CampaignState
from annotation.judging import answers, claims, decisions, leases, submission
from annotation.models import Assignment, Campaign, KnownLabel, QuestionnaireItem, TrainingItem
from crowdrag.studies.entry import links
from crowdrag.studies.models import Study, User
from tests.annotation import open_campaign
from tests.annotation.judge_actions import add_check, answer_all
from tests.factories import MembershipFactory

MINUTE = timedelta(minutes=1)


def furnish_judging(study: Study) -> Campaign:
    """Make the campaigns; return the one that is open."""
    by = MembershipFactory(study=study).user
    for state in (CampaignState.DRAFT, CampaignState.PAUSED, CampaignState.CLOSED):
        open_campaign.world(study=study, name=f"Pairs, {state.lower()}", state=state, k=1)
    open_campaign.world(study=study, name="One by one", kind=CampaignKind.POINTWISE, state=CampaignState.DRAFT)
    open_campaign.world(
        study=study, name="The hard ones, by experts", kind=CampaignKind.EXPERT, state=CampaignState.DRAFT
    )
    made = open_campaign.world(study=study, name="Pairs, under way", k=3, minimum_seconds=600, topics=3)
    _add_checks(made)
    _recruit(made, by)
    _judge(made, by)
    _overtake(study)
    return made.campaign


def _recruit(made: open_campaign.World, by: User) -> None:
    now = timezone.now()
    links.create_open(study=made.study, purpose=made.purpose, label="mailing list", by=by, now=now)


def _add_checks(made: open_campaign.World) -> None:
    """Ask one attention check, know one pair's labels, let people learn from another."""
    sheet = made.questionnaires[0]
    add_check(sheet)
    entry = sheet.entries.order_by("position").first()
    QuestionnaireItem.objects.filter(pk=entry.pk).update(has_known_label=True)
    learnt = open_campaign.make_items(made.campaign, made.responses[:2], reverse=True)[0]
    TrainingItem.objects.create(campaign=made.campaign, item=learnt, position=0)
    for item in (entry.item, learnt):
        for dimension in made.dimensions:
            KnownLabel.objects.create(item=item, dimension=dimension, value=1, explanation="The first has no reasons.")


def _judge(made: open_campaign.World, by: User) -> None:
    """Let people come: two are accepted, one is rejected, two wait, one gives back, two are late, one is at it."""
    began = timezone.now() - timedelta(hours=3)
    given = []
    for number, person in enumerate(made.judges(8)):
        at = began + number * MINUTE
        mine = claims.claim(campaign=made.campaign, participant=person, now=at)
        given.append(mine)
        if number < 5:
            # The third is through in two minutes; it and the second say A to everything.
            end = at + (2 if number == 2 else 25 + number) * MINUTE
            answer_all(mine, end, value=-1 if number in (1, 2) else 1)
            _look(mine, end)
            submission.submit(assignment=mine, comment="Clear enough.", now=end)
    later = began + timedelta(hours=1)
    for mine in given[:2]:
        decisions.accept(assignment=mine, by=by, now=later, note="Thank you.")
    decisions.reject(assignment=given[2], reason="Done in two minutes.", by=by, now=later, pay_part=100)
    leases.give_back(assignment=given[5], reason="No time", now=later)
    leases.expire(now=timezone.now())
    answer_all(given[6], timezone.now())
    claims.claim(campaign=made.campaign, participant=made.judge(), now=timezone.now())


def _look(assignment: Assignment, now: datetime) -> None:
    """Say that each item was looked at equally long."""
    entries = list(assignment.questionnaire.entries.all())
    seconds = (now - assignment.assigned_at).total_seconds() / len(entries)
    rest = {"away": 3.5, "looks": 2, "leaves": 1, "changes": 0}
    times = [{"item": entry.item_id, "active": seconds, **rest} for entry in entries]
    answers.record_times(assignment=assignment, visit="visit", times=times, now=now)


def _overtake(study: Study) -> None:
    """Let somebody hand in late, when somebody else has the place."""
    made = open_campaign.world(study=study, name="Pairs, all taken", k=1, topics=1)
    long_ago = timezone.now() - timedelta(hours=3)
    late, quick = made.judges(2)
    mine = claims.claim(campaign=made.campaign, participant=late, now=long_ago)
    answer_all(mine, long_ago)
    leases.expire(now=timezone.now())
    claims.claim(campaign=made.campaign, participant=quick, now=timezone.now())
    submission.submit(assignment=mine, now=timezone.now())
