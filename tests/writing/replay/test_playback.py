"""A log as one line, and the document of it that the player reads."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.writing_process import pace
from crowdrag.studies.enums import Role
from tests.annotation.imports.published_corpora import bring_in
from tests.examples import examples
from tests.factories import MembershipFactory, StudyFactory, WritingTaskFactory
from tests.submitted_responses import log_of, pasted, submitted, typed, written
from writing.editor import codec, logs
from writing.enums import LogSource
from writing.models import LogBatch, WritingLog, WritingTask
from writing.replay import merged_log, playback

pytestmark = pytest.mark.django_db
PASSAGES = ["The moon pulls on the water of every ocean at once, and so does the sun.", "Harbours are funnels."]
LETTERS = st.text(st.sampled_from("ab \n\U0001f600é\u0301ש"), max_size=6)


def units(text: str) -> list[int]:
    """A text as a browser counts it."""
    raw = text.encode("utf-16-le")
    return [int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2)]


def shown(document: dict[str, Any]) -> list[list[int]]:
    """The text after each change, rebuilt from the document alone, in UTF-16 units."""
    states, text = [], []
    for _t, position, deleted, inserted, _source in document["changes"]:
        text = [*text[:position], *units(inserted), *text[position + deleted :]]
        states.append(text)
    return states


def stored(*sessions: tuple[list[Any], int | None, int]) -> WritingLog:
    return log_of(WritingTaskFactory(claimed=True), sessions)


@st.composite
def edits(draw: st.DrawFn) -> list[Any]:
    events, text, ms = [], "", 0
    for _ in range(draw(st.integers(0, 12))):
        ms += draw(st.integers(-50, 5_000))
        position = draw(st.integers(0, len(text)))
        deleted = draw(st.integers(0, len(text) - position))
        source = draw(st.sampled_from(["typed", "pasted", "undone", "external"]))
        event = ["s", ms, position, deleted, draw(LETTERS), source, ""]
        text = codec.apply_splice(text, event)
        events += [event, ["c", ms, draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))]]
    return events


@given(edits())
@settings(max_examples=examples(60), deadline=None)
def test_the_document_rebuilds_the_text_after_every_change(events: list[Any]) -> None:
    line = merged_log.MergedLog()
    merged_log._Clock(line).add(0, events, None)
    document = playback._text(line, PASSAGES)
    assert shown(document) == [units(text) for _, text in codec.states(events)]
    times = [change[0] for change in document["changes"]]
    assert times == sorted(times)
    for arrival in document["arrivals"]:
        came = "".join(change[3] for change in document["changes"][arrival["change"] :][: arrival["changes"]])
        assert len(came) == arrival["length"]


def test_carets_are_told_in_the_units_of_a_browser() -> None:
    log = stored(
        ([["s", 0, 0, 0, "\U0001f600a", "typed", ""], ["c", 5, 1, 2], ["s", 9, 1, 1, "", "deleted", ""]], None, 0)
    )
    document = playback.document(log, [])
    assert document["carets"] == [[5, 1, 2, 3]]
    assert document["changes"][1][1:3] == [2, 1]


def test_what_arrived_is_told_with_its_source_and_how_much_is_left() -> None:
    quote = "pulls on the water of every ocean at once"
    events = [*typed("So it "), *pasted(quote, ms=5_000, at=6, place=0), ["s", 9_000, 6, 6, "", "deleted", ""]]
    events += pasted("a text that stands in no passage at all", ms=60_000, at=0)
    one, other = playback.document(stored((events, None, 0)), PASSAGES)["arrivals"]
    assert (one["place"], one["share"], one["how"]) == (0, 1.0, "pasted")
    assert (one["length"], one["survived"]) == (len(quote), len(quote) - 6)
    assert (other["place"], other["survived"]) == (-2, other["length"])


def test_what_a_revision_begins_with_is_told_apart_from_what_arrived() -> None:
    log = stored(
        ([["s", 0, 0, 0, "Old text.", "restored", ""]], None, 0), ([["s", 5_000, 0, 4, "", "deleted", ""]], 0, 1)
    )
    document = playback.document(log, PASSAGES)
    assert (document["start"], document["arrivals"]) == ({"length": 9, "survived": 5}, [])
    taken = [["a", 0, 0, 1, 1, False], ["s", 9, 0, 0, "From another tab.", "restored", ""]]
    document = playback.document(stored((taken, None, 0)), PASSAGES)
    assert (document["start"], [each["how"] for each in document["arrivals"]]) == (None, ["restored"])


def test_a_large_paste_in_pieces_is_one_arrival() -> None:
    half = "A long text that nobody could have typed so quickly. " * 2
    size = len(half)
    pieces = [["s", 11 + n, n * size, 0, half, "pasted", ""] for n in range(2)]
    (arrival,) = playback.document(stored(([["p", 10, -2, 2 * size, 0], *pieces], None, 0)), PASSAGES)["arrivals"]
    assert (arrival["change"], arrival["changes"], arrival["length"]) == (0, 2, 2 * size)


def test_sessions_are_one_line_with_the_time_between_them_marked_and_branches_kept() -> None:
    first = typed("One two")  # 14 events
    second = typed(" three", start=3_600_000, at=7)
    log = stored((first + typed(" lost", start=2_000, at=7), None, 0), (second, 0, len(first)))
    line = merged_log.merge(log)
    assert codec.final_text(line.events) == "One two three"
    assert [placed.event[2:] for placed in logs.session_history(log).events] == [event[2:] for event in line.events]
    (gap,) = line.gaps
    last = first[-1][1]
    assert (gap.at, gap.shown, gap.milliseconds, gap.session) == (last, merged_log.GAP, 3_600_000 - last, 1)
    assert line.events[len(first)][1] == last + merged_log.GAP
    assert [opened.number for opened in line.sessions] == [0, 1]
    assert [(branch.number, branch.text) for branch in line.branches] == [(0, "One two lost")]
    assert logs.session_history(log).branches[0].text == line.branches[0].text


def test_a_clock_that_was_set_back_does_not_turn_the_replay_back() -> None:
    events = [["s", 0, 0, 0, "a"], ["s", 9_000, 1, 0, "b"], ["s", 4_000, 2, 0, "c"], ["s", 5_000, 3, 0, "d"]]
    line = merged_log.merge(stored((events, None, 0)))
    assert [event[1] for event in line.events] == [0, 9_000, 9_000, 10_000]
    assert line.set_back == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(10), deadline=None)
@given(
    st.lists(st.integers(0, 60_000), min_size=1, max_size=6),
    st.lists(st.integers(0, 90_000), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_the_whole_time_is_the_one_that_active_time_is_a_part_of(
    first: list[int], second: list[int], kept: int
) -> None:
    """After writing on two devices, with pauses, a branch, and clocks that go back."""
    kept = min(kept, len(first))
    one = [["s", ms, n, 0, "a", "typed", ""] for n, ms in enumerate(first)]
    other = [["s", ms, kept + n, 0, "b", "typed", ""] for n, ms in enumerate(second)]
    log = stored((one, None, 0), (other, 0, kept))
    found = pace.activity(logs.events(log))
    assert merged_log.merge(log).span == round(found.seconds * 1000)
    assert found.active_seconds <= found.seconds


def test_all_that_is_beside_the_text_is_folded() -> None:
    events, text = written()
    document = playback.document(stored((events, None, 0)), PASSAGES)
    assert document["length"] == len(text)
    assert document["open"] == [[1, 300, document["end"]]]
    assert document["view"] == [[1, 300, 900]]
    assert [to - since for since, to in document["hidden"]] == [9_000]
    assert document["searches"] == [[950, "moon", 2]]
    assert [rank for _, rank, _ in document["citations"]] == [1]
    assert sum(count for _, count in document["keys"]) == sum(event[0] == "k" for event in events)
    assert "letter" not in json.dumps(document)


def test_a_replay_is_for_reviewers_and_sent_compressed(client: Client) -> None:
    member = MembershipFactory(role=Role.REVIEWER)
    viewer = MembershipFactory(study=member.study, role=Role.VIEWER).user
    text, broken = submitted(member.study), submitted(member.study, events=[["s", 0, 5, 3, "x", "typed", ""]], text="x")

    def page(task: WritingTask, name: str = "") -> str:
        return f"/studies/{member.study.slug}/responses/{task.response.external_id}/{name}"

    for user, has_link in ((viewer, False), (member.user, True)):
        client.force_login(user)
        assert ("/replay/" in client.get(page(text)).content.decode()) == has_link
    assert client.get(page(text, "replay/")).status_code == 200
    answer = client.get(page(text, "replay/log/"), headers={"accept-encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer.content))["length"] == len(text.response.text)
    answer = client.get(page(broken, "replay/log/"))
    assert (answer.status_code, answer.json()["problem"]) == (409, "broken")
    assert client.get(page(broken, "replay/")).status_code == 200
    WritingLog.objects.all().delete()
    assert client.get(page(text, "replay/")).status_code == 404


def replays(log: WritingLog) -> bool:
    document = playback.document(log, [])
    last = shown(document)[-1] if document["changes"] else []
    return last == units(log.response.text)


def test_imported_snapshots_replay_to_their_response() -> None:
    bring_in(StudyFactory(), Path(__file__).parents[2] / "data/crowdrag25")
    logs = list(WritingLog.objects.filter(source=LogSource.SNAPSHOTS, task__response__isnull=False))
    assert len(logs) > 0
    assert [log.pk for log in logs if not replays(log)] == []
    assert not playback.document(logs[0], [])["has_keys"]


@pytest.mark.soak
@pytest.mark.skipif(not os.environ.get("CROWDRAG_DATA"), reason="CROWDRAG_DATA is not set")
def test_the_whole_sample_replays_to_its_responses_and_stays_small() -> None:
    bring_in(StudyFactory(), Path(os.environ["CROWDRAG_DATA"]) / "crowdrag25")
    logs = list(WritingLog.objects.filter(task__response__isnull=False).select_related("task__response"))
    assert len(logs) == 450
    assert [log.pk for log in logs if not replays(log)] == []
    largest = max(logs, key=lambda log: sum(batch.event_count for batch in LogBatch.objects.filter(log=log)))
    sent = gzip.compress(json.dumps(playback.document(largest, []), separators=(",", ":")).encode())
    assert len(sent) < 40_000
