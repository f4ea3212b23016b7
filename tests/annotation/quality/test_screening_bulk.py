"""Many questionnaires are decided together and undone; a platform is told when nothing can be undone any more."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.enums import AssignmentState as S
from annotation.judging import queries
from annotation.models import Assignment
from annotation.quality.screening import queue, services
from crowdrag.assignments.lifecycle import total_paid
from crowdrag.assignments.problems import NotAllowed, NotUndoable, UndoTooLate
from crowdrag.assignments.undo import UNDO_TIME
from crowdrag.recruitment.enums import ActionKind, ActionState, RejectionCategory
from crowdrag.recruitment.models import PlatformAction
from crowdrag.studies.enums import Role
from tests.annotation import judge_actions, open_campaign
from tests.annotation.quality.screened import LONG, REASON, handed_in, sent, state
from tests.annotation.shared import made_once, signed_in
from tests.api.conftest import by_token
from tests.factories import NOW

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
LATER = NOW + LONG + MINUTE
SOON = LATER + MINUTE

stored, here = made_once(lambda: open_campaign.world(k=3))


@pytest.fixture
def client(here: open_campaign.World) -> Client:
    return signed_in(here.study, Role.REVIEWER)


def at(name: str, here: open_campaign.World, *more: Any) -> str:
    return reverse(name, args=[here.study.slug, here.campaign.pk, *more])


def orders() -> list[tuple[str, datetime]]:
    rows = PlatformAction.objects.exclude(state=ActionState.DROPPED).order_by("pk")
    return [(row.kind, row.due_at) for row in rows]


def facts(assignment: Assignment) -> Any:
    row = Assignment.objects.get(pk=assignment.pk)
    return row.state, row.is_included, total_paid(row), row.decisions.count(), orders()


@pytest.mark.parametrize("name", ["accept", "reject"])
def test_an_undone_decision_leaves_what_was_before_and_the_platform_is_not_told(
    here: open_campaign.World, name: str
) -> None:
    by, done = here.member(), sent(here)
    who: dict[str, Any] = {"assignment": done, "by": by}
    before = facts(done)
    rejection = {"reason": REASON, "category": RejectionCategory.OTHER, "pay_part": 100}
    if name == "accept":
        services.accept(**who, now=LATER, note="Thank you.")
    else:
        services.reject(**who, now=LATER, **rejection)
    assert {due for _kind, due in orders()} == {LATER + UNDO_TIME}
    for _ in range(2):
        services.undo_decision(**who, now=SOON)
    assert facts(done) == before
    row = queries.questionnaire_row(Assignment.objects.get(pk=done.pk))
    assert (row.note, row.was_reversed) == ("", False)
    # Decided again in other words, the platform is told those.
    services.reject(**who, now=SOON, **rejection | {"reason": f"{REASON} Again.", "pay_part": 50})
    assert orders() == [(ActionKind.REJECT, SOON + UNDO_TIME), (ActionKind.BONUS, SOON + UNDO_TIME)]
    services.undo_decision(**who, now=SOON)
    services.accept(**who, now=SOON)
    assert orders() == [(ActionKind.APPROVE, SOON + UNDO_TIME)]


def test_what_cannot_be_taken_back_is_not_undone(here: open_campaign.World) -> None:
    by, first, second = here.member(), handed_in(here), sent(here)
    services.reject(assignment=first, reason="No.", by=by, now=LATER)
    with pytest.raises(UndoTooLate):
        services.undo_decision(assignment=first, by=by, now=LATER + UNDO_TIME)
    with pytest.raises(NotAllowed):
        services.undo_decision(assignment=first, by=by, at=NOW, now=SOON)
    # The places are given to others.
    sheet = first.questionnaire
    while sheet.slots.filter(holder=None).exists():
        judge_actions.claim(here, here.judge(), LATER)
    with pytest.raises(NotUndoable):
        services.undo_decision(assignment=first, by=by, now=SOON)
    assert state(first) == S.REJECTED
    # The platform has begun with what it was told.
    services.accept(assignment=second, by=by, now=LATER)
    PlatformAction.objects.update(state=ActionState.DONE)
    with pytest.raises(NotUndoable):
        services.undo_decision(assignment=second, by=by, now=SOON)
    assert (state(second), total_paid(second)) == (S.ACCEPTED, 400)
    # A rejection of accepted work is no first decision.
    services.reject(assignment=second, reason="A bot.", by=by, now=SOON)
    with pytest.raises(NotAllowed):
        services.undo_decision(assignment=second, by=by, now=SOON)


def test_selected_questionnaires_are_decided_and_undone_as_one(here: open_campaign.World, client: Client) -> None:
    flagged = [handed_in(here, after=MINUTE) for _ in range(2)]
    other = handed_in(here)
    fields: dict[str, Any] = {"decision": "reject", "selected": [one.external_id for one in flagged]}
    assert client.post(at("screening_bulk", here), fields).context["selection"].owed == 800
    assert client.post(at("screening_bulk", here), {"decision": "reject"}).status_code == 302
    fields |= {"confirmed": "yes", "reason": "", "pay": "all"}
    assert client.post(at("screening_bulk", here), fields).status_code == 422
    client.post(at("screening_bulk", here), fields | {"reason": "Too fast to be read."})
    assert [state(one) for one in (*flagged, other)] == [S.REJECTED, S.REJECTED, S.SUBMITTED]
    assert total_paid(flagged[0]) == 400
    [recent] = client.get(at("screening", here)).context["recent"]
    assert recent.count == 2
    for _ in range(2):
        client.post(at("screening_undo", here), {"at": recent.at.isoformat()})
    assert [facts(one)[:3] for one in flagged] == [(S.SUBMITTED, True, 0)] * 2
    # Accepting needs no second page: it can be undone as well.
    client.post(at("screening_bulk", here), {"decision": "accept", "selected": fields["selected"]})
    assert [state(one) for one in flagged] == [S.ACCEPTED] * 2
    address = at("screening_undo_one", here, flagged[0].external_id)
    assert client.post(address, {"at": recent.at.isoformat()}).status_code == 409
    assert client.post(address).status_code == 302
    assert [state(one) for one in flagged] == [S.SUBMITTED, S.ACCEPTED]


def test_a_platform_asks_for_category_and_length_of_each(here: open_campaign.World, client: Client) -> None:
    done = sent(here, after=MINUTE)
    fields = {"decision": "reject", "selected": done.external_id, "confirmed": "yes", "reason": "Short.", "pay": "none"}
    category = {"category": RejectionCategory.LOW_EFFORT}
    client.post(at("screening_bulk", here), fields | category)
    assert state(done) == S.SUBMITTED
    client.post(at("screening_bulk", here), fields | category | {"reason": REASON})
    assert (state(done), [kind for kind, _due in orders()]) == (S.REJECTED, [ActionKind.REJECT])


def test_all_unflagged_are_undone_as_one(here: open_campaign.World) -> None:
    by, done = here.member(), [handed_in(here) for _ in range(2)]
    services.accept_clean(campaign=here.campaign, until=LATER, by=by, now=LATER)
    [recent] = queue.recent_decisions(here.campaign, by, SOON)
    services.undo_each(campaign=here.campaign, at=recent.at, by=by, now=SOON)
    assert [state(one) for one in done] == [S.SUBMITTED] * 2


@pytest.mark.extended
def test_questionnaires_are_assigned_and_filtered(here: open_campaign.World) -> None:
    me, colleague = here.member(), here.member(Role.EDITOR)
    client = Client()
    client.force_login(me)
    mine, theirs = handed_in(here), handed_in(here, after=MINUTE)
    client.post(at("screening_assign", here, mine.external_id), {"to": me.pk})
    fields = {"decision": "assign", "selected": theirs.external_id, "to": colleague.pk}
    client.post(at("screening_bulk", here), fields)
    for proposal in ("", "accept"):
        query = {"assigned": "me", "proposal": proposal}
        assert [row.assignment for row in client.get(at("screening", here), query).context["rows"]] == [mine]
    [entry] = queue.inbox_entries(here.study, colleague)
    assert (entry.count, entry.assigned, entry.oldest) == (2, 1, NOW + MINUTE)
    assert queue.take_next(campaign=here.campaign, by=me, now=LATER) == mine
    assert client.post(at("screening_assign", here, mine.external_id), {"to": 0}).status_code == 302
    assert Assignment.objects.get(pk=mine.pk).assignee == me
    api = by_token(me)
    address = f"/api/v1/studies/{here.study.slug}/campaigns/{here.campaign.pk}/assignments/{mine.external_id}/"
    answer = api.put(f"{address}assignee/", {"assignee": colleague.email}, format="json")
    assert answer.json()["assignee"] == colleague.email
    api.post(f"{address}accept/", {}, format="json")
    assert api.post(f"{address}undo/").json()["state"] == "SUBMITTED"
