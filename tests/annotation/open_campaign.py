"""A campaign that is open, with responses to judge and people who judge them, for tests."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, cycle

from annotation.enums import CampaignKind, CampaignState, Judges
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDimension,
    Dimension,
    Item,
    Pair,
    Questionnaire,
    QuestionnaireItem,
    Slot,
)
from crowdrag.studies.entry import links
from crowdrag.studies.enums import EntryKind, ParticipantKind, Role
from crowdrag.studies.models import Arrival, Consent, EntryLink, Participant, Study, User
from tests.factories import (
    NOW,
    CampaignFactory,
    ConsentTextFactory,
    DimensionFactory,
    InstructionsFactory,
    MembershipFactory,
    ParticipantFactory,
    PassageFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.enums import Origin
from writing.models import Response, Topic

ORIGINS = (
    (Origin.HUMAN, ParticipantKind.CROWD),
    (Origin.MODEL, ParticipantKind.MODEL),
    (Origin.SYSTEM, ParticipantKind.SYSTEM),
)
SCALE = [{"value": value, "label": label} for value, label in ((-3, "bad"), (-1, "poor"), (1, "fair"), (3, "good"))]
CLAIM = "A claim, number {}, in some words [0]. "


@dataclass
class World:
    """A campaign with what it asks, and the link by which its judges come."""

    campaign: Campaign
    dimensions: list[Dimension]
    topics: list[Topic]
    responses: list[Response]
    questionnaires: list[Questionnaire] = field(default_factory=list)

    @property
    def study(self) -> Study:
        return self.campaign.study

    @property
    def purpose(self) -> str:
        """What entry links of this campaign are for."""
        return f"judging-{self.campaign.pk}"

    @property
    def link(self) -> EntryLink:
        """The open link of this campaign; made when it is first asked for."""
        found = EntryLink.objects.filter(study=self.study, purpose=self.purpose, kind=EntryKind.OPEN).first()
        key = links.make_key()
        return found or EntryLink.objects.create(
            study=self.study, purpose=self.purpose, kind=EntryKind.OPEN, token=key, token_hash=links.hash_key(key),
            created_at=NOW,
        )  # fmt: skip

    def judge(self, *, consents: bool = True, session: str = "", **fields: object) -> Participant:
        """Somebody who came by the campaign's link, and agreed."""
        return self.admit(ParticipantFactory(study=self.study, **fields), consents=consents, session=session)

    def judges(self, count: int) -> list[Participant]:
        """Return several of them; in few statements, so that there may be many."""
        start = Participant.objects.filter(study=self.study).count()
        people = Participant.objects.bulk_create(
            Participant(study=self.study, external_id=f"judge-{start + n}", kind=ParticipantKind.CROWD, created_at=NOW)
            for n in range(count)
        )
        link = self.link
        Arrival.objects.bulk_create(
            Arrival(link=link, participant=each, arrived_at=NOW, last_at=NOW) for each in people
        )
        text = self.campaign.consent_text
        Consent.objects.bulk_create(Consent(participant=each, text=text, given_at=NOW) for each in people)
        return people

    def admit(self, person: Participant, *, consents: bool = True, session: str = "") -> Participant:
        """Let somebody who is there already come by the campaign's link too."""
        Arrival.objects.create(link=self.link, participant=person, session=session, arrived_at=NOW, last_at=NOW)
        if consents:
            Consent.objects.create(participant=person, text=self.campaign.consent_text, given_at=NOW)
        return person

    def stranger(self) -> Participant:
        """Somebody of the study who did not come by the campaign's link."""
        return ParticipantFactory(study=self.study)

    def writer(self, questionnaire: Questionnaire | None = None) -> Participant:
        """Whoever wrote a response that a questionnaire, the first one else, shows; admitted to the campaign."""
        item = (questionnaire or self.questionnaires[0]).entries.order_by("position").first().item
        return self.admit((item.response or item.pair.a).participant)

    def member(self, role: Role = Role.REVIEWER) -> User:
        """Somebody of the researchers."""
        return MembershipFactory(study=self.study, role=role).user

    def change(self, **fields: object) -> Campaign:
        """Change the campaign's row as it is, by no rule."""
        Campaign.objects.filter(pk=self.campaign.pk).update(**fields)
        self.campaign.refresh_from_db()
        return self.campaign

    def questions(self, assignment: Assignment) -> Iterator[tuple[Item, Dimension]]:
        """Yield what an assignment asks, in the order of the page."""
        for entry in assignment.questionnaire.entries.select_related("item").order_by("position"):
            for dimension in self.dimensions:
                yield entry.item, dimension

    def held(self) -> int:
        """Return how many places somebody holds."""
        return Slot.objects.filter(campaign=self.campaign, holder__isnull=False).count()

    def free(self) -> int:
        """Return how many places nobody holds."""
        return Slot.objects.filter(campaign=self.campaign).open().count()


def world(
    *,
    study: Study | None = None,
    topics: int = 2,
    responses: int = 3,
    per_questionnaire: int = 3,
    dimensions: int = 2,
    k: int = 2,
    state: str = CampaignState.OPEN,
    texts: Iterator[str] | None = None,
    **fields: object,
) -> World:
    """Make an open campaign of all pairs (or, pointwise, all responses), its places free.

    Two topics with three responses each, of people, models and systems in turn, are two questionnaires of three pairs.
    Their texts are some claims, or `texts`.
    """
    kind = fields.setdefault("kind", CampaignKind.PAIRWISE)
    fields.setdefault("judges", Judges.EXPERT if kind == CampaignKind.EXPERT else Judges.CROWD)
    campaign = CampaignFactory(
        study=study or StudyFactory(is_simulated=True),
        k=k,
        state=CampaignState.DRAFT,
        **{"has_slots": True, "has_practice": False, "pay": 400, "fee": 100, "wage_floor": 1200, **fields},
    )
    campaign.instructions = InstructionsFactory(study=campaign.study)
    campaign.consent_text = ConsentTextFactory(study=campaign.study, text="We record how you judge.")
    asked = [_dimension(campaign, position) for position in range(dimensions)]
    made = _responses(campaign.study, topics, responses, texts)
    found = World(campaign, asked, list(dict.fromkeys(each.topic for each in made)), made)
    found.questionnaires = make_questionnaires(campaign, make_items(campaign, made), per_questionnaire)
    campaign.state = state
    campaign.opened_at = NOW
    campaign.save()
    return found


def make_items(campaign: Campaign, responses: list[Response], *, reverse: bool = False) -> list[Item]:
    """Make the campaign's items: each response, or each pair of one topic, once; `reverse`: the other way round."""
    of = {"campaign": campaign}
    if campaign.kind == CampaignKind.POINTWISE:
        return Item.objects.bulk_create(Item(response=each, topic=each.topic, **of) for each in responses)
    couples = [(a, b) for a, b in combinations(responses, 2) if a.topic_id == b.topic_id]
    if reverse:
        couples = [(b, a) for a, b in couples]
    pairs = Pair.objects.bulk_create(Pair(study=campaign.study, a=a, b=b) for a, b in couples)
    return Item.objects.bulk_create(Item(pair=each, topic=each.a.topic, **of) for each in pairs)


def make_questionnaires(campaign: Campaign, items: list[Item], size: int) -> list[Questionnaire]:
    """Make questionnaires of so many items, one after the other, each with its k places where the campaign has any."""
    start = campaign.questionnaires.count()
    groups = [items[first : first + size] for first in range(0, len(items), size)]
    made = Questionnaire.objects.bulk_create(
        Questionnaire(campaign=campaign, external_id=f"sheet-{n}", position=n, words=100 * len(group), created_at=NOW)
        for n, group in enumerate(groups, start)
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=sheet, item=item, position=position)
        for sheet, group in zip(made, groups, strict=True)
        for position, item in enumerate(group)
    )
    if campaign.has_slots:
        Slot.objects.bulk_create(
            Slot(campaign=campaign, questionnaire=sheet, number=number, rank=sheet.position * 1000 + number)
            for sheet in made
            for number in range(campaign.k)
        )
    return made


def _dimension(campaign: Campaign, position: int) -> Dimension:
    fields = {"options": SCALE} if campaign.kind == CampaignKind.POINTWISE else {}
    dimension = DimensionFactory(study=campaign.study, label=f"Dimension {position}", **fields)
    CampaignDimension.objects.create(campaign=campaign, dimension=dimension, position=position)
    return dimension


def _responses(study: Study, topics: int, count: int, texts: Iterator[str] | None) -> list[Response]:
    """Make responses of people, models and systems in turn; each person wrote one, a model writes on all topics."""
    style = StyleFactory(study=study)
    passages = [PassageFactory(study=study) for _ in range(2)]
    machines = {kind: ParticipantFactory(study=study, kind=kind) for _origin, kind in ORIGINS[1:]}
    made = []
    for _ in range(topics):
        topic = TopicFactory(study=study)
        for rank, passage in enumerate(passages):
            RetrievedPassageFactory(topic=topic, passage=passage, rank=rank)
        for number, (origin, kind) in zip(range(count), cycle(ORIGINS), strict=False):
            writer = machines.get(kind) or ParticipantFactory(study=study)
            text = next(texts) if texts else "".join(CLAIM.format(n) for n in range(number + 1)).strip()
            words = len(text.split()) if texts else 7 * (number + 1)
            made.append(
                ResponseFactory(topic=topic, style=style, participant=writer, origin=origin, text=text, words=words)
            )
    return made
