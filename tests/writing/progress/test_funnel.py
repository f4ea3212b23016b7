"""How far people came, and what is counted after some of them had all erased."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.studies.entry import links
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import Arrival, EntryLink, Participant
from crowdrag.studies.participants import participant_dashboard as people_cards
from crowdrag.studies.participants import withdrawal
from tests.factories import NOW, ParticipantFactory, UserFactory
from tests.writing.open_plan import World, hand_in, world
from writing.models import Response
from writing.progress import overview
from writing.review import services

pytestmark = pytest.mark.django_db


def accepted(made: World, person: Participant) -> Response:
    """Somebody writes, and it is accepted."""
    task = made.claim(person)
    response = hand_in(task)
    services.accept(task=task, by=made.reviewer(), now=NOW)
    return response


def linked(made: World, person: Participant, kind: str, **fields: Any) -> EntryLink:
    number = EntryLink.objects.count()
    to = {"token": f"t{number}"} if kind == EntryKind.OPEN else {"participant": person}
    return EntryLink.objects.create(
        study=made.study, purpose="writing", kind=kind, token_hash=bytes([number]) * 32, created_at=NOW, **to, **fields
    )


def came(made: World, person: Participant, kind: str = EntryKind.OPEN, **fields: Any) -> None:
    link = linked(made, person, kind, **fields)
    Arrival.objects.create(link=link, participant=person, arrived_at=NOW, last_at=NOW)


def stages(made: World) -> dict[str, tuple[int, float | None, float | None]]:
    rows = overview.overview(made.study).stages
    return {stage.name: (stage.people, stage.of_arrived, stage.of_before) for stage in rows}


def test_what_was_erased_is_paid_and_fills_no_slot() -> None:
    made = world(topics=3, slots=3, pay=800, fee=30, tax=0)
    person = made.writer()
    accepted(made, person)
    before = overview.overview(made.study)
    assert (before.whole.done, before.whole.missing, before.spending.total) == (1, 8, 9 * 830)
    withdrawal.erase(participant=person, now=NOW)
    after = overview.overview(made.study)
    assert (after.whole.planned, after.whole.done, after.whole.missing, after.whole.erased) == (9, 0, 9, 1)
    assert (after.whole.share, after.whole.counts["OPEN"], after.whole.counts["ACCEPTED"]) == (0, 9, 0)
    assert (after.spending.so_far, after.spending.total, after.responses) == (830, 10 * 830, [])
    (writer,) = after.writers
    assert (writer.handed_in, writer.earned) == (0, 800)
    assert overview.study_card(made.study)["whole"].done == 0
    assert overview.corpus_card(made.study)["responses"] == []


def test_every_line_is_a_part_of_the_one_above_and_invitations_are_not_mixed_with_open_links() -> None:
    made = world(topics=3, slots=3)
    invited, stranger, quiet = made.writer(), made.writer(), made.writer()
    came(made, invited, EntryKind.PERSONAL, created_by=UserFactory())
    assert stages(made)["arrived"] == (3, 1, None)  # two agreed, so they came, by whatever way
    came(made, stranger)
    came(made, quiet)
    accepted(made, stranger)
    made.claim(invited)
    assert stages(made) == {
        "invited": (1, None, None),
        "arrived": (3, 1, None),
        "consented": (3, 1, 1),
        "claimed": (2, 2 / 3, 2 / 3),
        "submitted": (1, 1 / 3, 1 / 2),
        "accepted": (1, 1 / 3, 1),
    }
    shown = people_cards.people_card(made.study)
    assert (shown["invited"], shown["arrived"], shown["consented"]) == (1, 3, 3)


def test_whoever_was_invited_by_name_is_a_share_of_the_invited() -> None:
    made = world()
    came(made, made.writer(), EntryKind.PERSONAL, label="one")
    linked(made, ParticipantFactory(study=made.study), EntryKind.PERSONAL, label="two")
    assert stages(made)["arrived"] == (1, 1, 0.5)


def test_whoever_had_all_erased_is_in_no_line() -> None:
    made = world(topics=3, slots=3)
    gone, here = made.writer(), made.writer()
    for person in (gone, here):
        came(made, person)
    accepted(made, gone)
    made.claim(here)
    withdrawal.erase(participant=gone, now=NOW)
    assert overview.overview(made.study).erased_people == 1
    assert [people for people, _arrived, _before in stages(made).values()] == [0, 1, 1, 1, 0, 0]
    shown = people_cards.people_card(made.study)
    assert (shown["invited"], shown["arrived"], shown["consented"]) == (0, 1, 1)
    (line,) = [each for each in links.funnels(made.study).values() if each.arrived]
    assert line == links.Funnel(1, 1)


def test_the_page_opens_before_and_after_somebody_had_all_erased(client: Client) -> None:
    made = world(topics=2, trial=1)
    client.force_login(made.reviewer())
    page, queue = (reverse(name, args=[made.study.slug]) for name in ("writing_progress", "review_queue"))
    task = made.claim(gone := made.writer())
    hand_in(task)
    assert f'class="button button--main" href="{queue}"' in client.get(page).content.decode()
    withdrawal.erase(participant=gone, now=NOW)
    assert client.get(page).context["found"].erased_people == 1
