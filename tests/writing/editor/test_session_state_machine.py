"""Any order of opening, sending, sending again, losing answers, fencing and finishing, against a plain model."""

from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from crowdrag.studies import invariants
from tests.factories import WritingTaskFactory
from tests.writing.editor.typist import digest
from writing.editor import codec, event_validation, ingestion, logs, sessions
from writing.models import WritingTask

pytestmark = pytest.mark.django_db
TEXT = st.text(alphabet="ab \né🧊ש\u0301", max_size=4)


class Tab:
    """One tab as the model has it: what it began with, and every batch that it numbered."""

    def __init__(self, opened: sessions.SessionStart) -> None:
        self.opened = opened
        self.number = opened.session.number
        self.batches: list[list[list[Any]]] = []
        self.acked = 0
        self.text = opened.text
        # The text after all that was acknowledged.
        self.kept = opened.text

    def first(self, number: int) -> int:
        return sum(map(len, self.batches[:number]))


class Log(RuleBasedStateMachine):
    """A task with any number of tabs; an answer may get lost, which changes nothing but what the tab knows."""

    tabs = Bundle("tabs")

    @initialize()
    def begin(self) -> None:
        self.clock = timezone.now
        self.task = WritingTaskFactory(claimed=True)
        self.open_tabs: list[Tab] = []
        self.finished: str | None = None

    @property
    def current(self) -> Tab | None:
        return self.open_tabs[-1] if self.open_tabs else None

    @rule(target=tabs)
    def open(self) -> Any:
        expected = self.current.kept if self.current else ""
        tab = Tab(sessions.open_session(task=self.task, device={}, now=self.clock()))
        assert tab.opened.text == expected
        assert tab.number == len(self.open_tabs)
        self.open_tabs.append(tab)
        self.finished = None
        return multiple(tab)

    @rule(tab=tabs, data=st.data())
    def type(self, tab: Tab, data: st.DataObject) -> None:
        """Number a batch; it is sent by another rule, or never."""
        events: list[list[Any]] = []
        for _ in range(data.draw(st.integers(1, 3))):
            start = data.draw(st.integers(0, len(tab.text)))
            gone = data.draw(st.integers(0, len(tab.text) - start))
            splice = ["s", len(events), start, gone, data.draw(TEXT), "typed", ""]
            tab.text = codec.apply_splice(tab.text, splice)
            events += [splice, ["k", len(events), "letter", 5]]
        tab.batches.append(events)

    def post(self, tab: Tab, number: int, events: list[list[Any]]) -> ingestion.Receipt:
        batch = event_validation.Batch(number, tab.first(number), events, event_validation.check_events(events))
        return ingestion.receive(token=tab.opened.token, batch=batch, now=self.clock())

    @rule(tab=tabs, times=st.integers(1, 3))
    def send(self, tab: Tab, times: int) -> None:
        """Send the next batch, again and again while its answer gets lost."""
        if tab.acked == len(tab.batches):
            return
        events = tab.batches[tab.acked]
        answers = [self.post(tab, tab.acked, events) for _ in range(times)]
        fenced = tab is not self.current
        assert {(each.acked, each.next_event, each.fenced) for each in answers} == {
            (tab.acked, tab.first(tab.acked) + len(events), fenced)
        }
        tab.acked += 1
        for event in events:
            if event[0] == "s":
                tab.kept = codec.apply_splice(tab.kept, event)
        if not fenced:
            self.finished = None

    @rule(tab=tabs, data=st.data())
    def send_an_old_one(self, tab: Tab, data: st.DataObject) -> None:
        if tab.acked:
            number = data.draw(st.integers(0, tab.acked - 1))
            assert self.post(tab, number, tab.batches[number]).acked == number
            with pytest.raises(ingestion.OtherEventsError):
                self.post(tab, number, [*tab.batches[number], ["f", 0, 1]])

    @rule(tab=tabs, ahead=st.integers(1, 3))
    def send_one_that_is_not_its_turn(self, tab: Tab, ahead: int) -> None:
        number = tab.acked + ahead
        if number < len(tab.batches):
            with pytest.raises(ingestion.GapError) as caught:
                self.post(tab, number, tab.batches[number])
            assert caught.value.facts == {"next_batch": tab.acked, "next_event": tab.first(tab.acked)}

    @rule(tab=tabs)
    def finish(self, tab: Tab) -> None:
        said = event_validation.Finish(tab.number, tab.first(len(tab.batches)), digest(tab.text))
        try:
            sessions.finish(task=self.task, finished=said, now=self.clock())
        except sessions.FencedError:
            assert tab is not self.current
        except sessions.BehindError as behind:
            assert tab.acked < len(tab.batches)
            assert behind.facts == {"next_event": tab.first(tab.acked)}  # noqa: PT017 -- one of several outcomes
        else:
            assert tab is self.current
            assert tab.acked == len(tab.batches)
            self.finished = tab.text

    @rule(tab=consumes(tabs))
    def close(self, tab: Tab) -> None:
        """The tab is gone, with all that it did not send."""

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        task = WritingTask.objects.get(pk=self.task.pk)
        if self.current is None:
            return
        assert logs.current_text(task) == self.current.kept
        assert (task.finished_at is None) == (self.finished is None)
        if self.finished is not None:
            assert task.draft == self.finished
        found: dict[int, list[codec.Event]] = {}
        for batch in task.log.batches.order_by("session", "number"):
            found.setdefault(batch.session, []).extend(codec.unpack(bytes(batch.payload), batch.codec))
        for tab in self.open_tabs:
            assert found.get(tab.number, []) == [event for batch in tab.batches[: tab.acked] for event in batch]

    def teardown(self) -> None:
        assert [invariant.name for invariant, tally in invariants.check() if tally.broken] == []


LONG = pytest.param(1000, 50, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])


@pytest.mark.parametrize(("examples", "steps"), [(3, 25), pytest.param(15, 25, marks=pytest.mark.extended), LONG])
def test_any_order_of_events(examples: int, steps: int) -> None:
    how = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
    run_state_machine_as_test(Log, settings=settings(max_examples=examples, stateful_step_count=steps, **how))
