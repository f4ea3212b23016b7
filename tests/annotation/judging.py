"""A campaign that people judge, for tests: questionnaires with their places, people who may judge, answers to all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4

from annotation.domain import assignments, places
from annotation.enums import CampaignState
from annotation.models import (
    Assignment,
    AttentionCheck,
    Campaign,
    CampaignDimension,
    Dimension,
    Instructions,
    Item,
    Pair,
    Place,
    Questionnaire,
    QuestionnaireItem,
)
from crowdrag.studies.enums import EntryKind, Role
from crowdrag.studies.models import Arrival, Consent, EntryLink, Participant, Study, User
from tests.factories import (
    NOW,
    CampaignFactory,
    ConsentTextFactory,
    DimensionFactory,
    MembershipFactory,
    ParticipantFactory,
    ResponseFactory,
    TopicFactory,
)
from writing.models import Response

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@dataclass
class Judging:
    """An open campaign with all that belongs to it."""

    campaign: Campaign
    dimensions: list[Dimension]
    questionnaires: list[Questionnaire]
    link: EntryLink
    responses: list[Response] = field(default_factory=list)

    @property
    def study(self) -> Study:
        return self.campaign.study

    def judge(self, **fields: object) -> Participant:
        """Somebody who came by the campaign's link and consented."""
        person = ParticipantFactory(study=self.study, **fields)
        self.admit([person])
        return person

    def crowd(self, count: int) -> list[Participant]:
        """Many who may judge, made at once."""
        named = [Participant(study=self.study, external_id=uuid4().hex, kind="CROWD", created_at=NOW)]
        named += [
            Participant(study=self.study, external_id=uuid4().hex, kind="CROWD", created_at=NOW)
            for _ in range(count - 1)
        ]
        people = Participant.objects.bulk_create(named)
        self.admit(people)
        return people

    def admit(self, people: list[Participant]) -> None:
        """Let people come by the campaign's link, and consent."""
        Arrival.objects.bulk_create(
            Arrival(link=self.link, participant=person, arrived_at=NOW, last_at=NOW) for person in people
        )
        text = self.campaign.consent_text
        Consent.objects.bulk_create(Consent(participant=person, text=text, given_at=NOW) for person in people)

    def reviewer(self) -> User:
        return MembershipFactory(study=self.study, role=Role.REVIEWER).user

    def claim(self, person: Participant, now: datetime = NOW, **more: object) -> Assignment:
        return assignments.claim(campaign=self.campaign, participant=person, now=now, **more)

    def change(self, **fields: object) -> None:
        Campaign.objects.filter(pk=self.campaign.pk).update(**fields)
        self.campaign.refresh_from_db()

    def questions(self, assignment: Assignment) -> Iterator[tuple[int, int]]:
        """Item and dimension of each question."""
        entries = QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id).order_by("position")
        for item in entries.values_list("item", flat=True):
            for dimension in self.dimensions:
                yield item, dimension.pk

    def answer_all(self, assignment: Assignment, now: datetime = NOW, value: int = 1) -> None:
        """Answer whatever is open."""
        for item, dimension, check in assignments.missing(assignment):
            if check is not None:
                assignments.check(assignment=assignment, check=check, value=1, revision=1, now=now)
            else:
                assert item is not None
                assert dimension is not None
                assignments.answer(
                    assignment=assignment, item=item, dimension=dimension, value=value, revision=1, now=now
                )

    def hand_in(self, assignment: Assignment, now: datetime = NOW) -> Assignment:
        """Answer whatever is open, and submit."""
        self.answer_all(assignment, now)
        return assignments.submit(assignment=assignment, now=now)


def judging(
    *, questionnaires: int = 2, items: int = 1, dimensions: int = 1, checks: int = 0, k: int = 2, **fields: object
) -> Judging:
    """An open campaign; every item stands in one questionnaire, and every response in one item."""
    campaign = CampaignFactory(state=CampaignState.DRAFT, has_places=True, k=k, **{"pay": 300, **fields})
    study = campaign.study
    asked = [DimensionFactory(study=study) for _ in range(dimensions)]
    CampaignDimension.objects.bulk_create(
        CampaignDimension(campaign=campaign, dimension=each, position=n) for n, each in enumerate(asked)
    )
    made = Questionnaire.objects.bulk_create(
        Questionnaire(campaign=campaign, external_id=f"q{n}", created_at=NOW, position=n) for n in range(questionnaires)
    )
    responses = _fill(campaign, made, items)
    AttentionCheck.objects.bulk_create(
        AttentionCheck(
            questionnaire=each,
            position=n,
            text="Choose B here.",
            options=[{"value": -1, "label": "A"}, {"value": 1, "label": "B"}],
            expected=1,
        )
        for each in made
        for n in range(checks)
    )
    instructions = Instructions.objects.create(study=study, name="judging", text="Judge.", created_at=NOW)
    campaign.instructions, campaign.consent_text = instructions, ConsentTextFactory(study=study)
    campaign.state, campaign.opened_at = CampaignState.OPEN, NOW
    campaign.save()
    places.ensure(campaign=campaign, now=NOW)
    token = uuid4().hex
    link = EntryLink.objects.create(
        study=study,
        purpose=assignments.purpose(campaign),
        kind=EntryKind.OPEN,
        token=token,
        token_hash=token.encode(),
        created_at=NOW,
    )
    return Judging(campaign, asked, made, link, responses)


def _fill(campaign: Campaign, made: list[Questionnaire], items: int) -> list[Response]:
    topic = TopicFactory(study=campaign.study)
    writer = ParticipantFactory(study=campaign.study)
    first = ResponseFactory(topic=topic, participant=writer)
    count = 2 * items * len(made)
    rows = [
        Response(
            study=campaign.study, topic=topic, style=first.style, participant=writer, external_id=uuid4().hex,
            origin=first.origin, text=first.text, words=first.words, created_at=NOW,
        )
        for _ in range(count)
    ]  # fmt: skip
    responses = Response.objects.bulk_create(rows)
    pairs = Pair.objects.bulk_create(
        Pair(study=campaign.study, a=responses[2 * n], b=responses[2 * n + 1]) for n in range(count // 2)
    )
    judged = Item.objects.bulk_create(Item(campaign=campaign, pair=pair, topic=topic) for pair in pairs)
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=made[n // items], item=item, position=n % items)
        for n, item in enumerate(judged)
    )
    return responses


def holders(questionnaire: Questionnaire) -> set[int]:
    """Keys of the assignments that hold a place."""
    held = Place.objects.filter(questionnaire=questionnaire, holder__isnull=False)
    return set(held.values_list("holder", flat=True))
