"""The demo's texts: enough of them, well formed, and what they claim to be."""

import json
import re
import uuid
from pathlib import Path

import pytest

import crowdrag.demo.texts
from crowdrag.demo.crowd import DIMENSIONS
from crowdrag.demo.texts import baseline_systems

FOLDER = Path(crowdrag.demo.texts.__file__).parent
STYLES = ("bullet", "essay", "news")
MARKER = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def topics():
    return lines("topics.jsonl")


@pytest.fixture(scope="module")
def responses():
    return lines("responses.jsonl")


def test_topics_have_twenty_passages_in_the_order_of_their_scores(topics):
    assert len(topics) >= 4
    assert len({topic["topic"] for topic in topics}) == len({topic["query"] for topic in topics}) == len(topics)
    for topic in topics:
        assert set(topic) == {"topic", "query", "passages"}
        scores = [passage["score"] for passage in topic["passages"]]
        assert scores == sorted(set(scores), reverse=True)
        assert [int(passage["id"].rpartition("#")[2]) for passage in topic["passages"]] == list(range(1, 21))


def test_passages_are_readable_and_no_two_share_twelve_words_in_a_row(topics):
    passages = [passage for topic in topics for passage in topic["passages"]]
    assert len({passage["id"] for passage in passages}) == len(passages)
    seen = {}
    for passage in passages:
        assert set(passage) == {"id", "text", "score"}
        assert 50 <= len(passage["text"].split()) <= 90, passage["id"]
        assert "[" not in passage["text"]  # a bracket would read as a citation where a passage is copied
        words = re.findall(r"[a-z]+", passage["text"].lower())
        for at in range(len(words) - 11):
            phrase = tuple(words[at : at + 12])
            assert seen.setdefault(phrase, passage["id"]) == passage["id"], " ".join(phrase)


def test_responses_are_well_formed_cite_what_exists_and_leave_slots_to_the_model(topics, responses):
    slots = {(response["topic"], response["style"]) for response in responses}
    every = {(topic["topic"], style) for topic in topics for style in STYLES}
    assert slots < every
    assert len(slots) == len(responses) >= len(every) / 2  # one response a slot
    assert {topic for topic, _ in slots} == {topic["topic"] for topic in topics}
    assert {style for _, style in slots} == set(STYLES)
    assert len({uuid.UUID(response["response"]) for response in responses}) == len(responses)
    assert len({MARKER.sub("", response["text"]) for response in responses}) == len(responses)
    for response in responses:
        text = response["text"]
        assert set(response) == {"response", "topic", "style", "writer", "text"}
        assert 50 <= len(text.split()) <= 300
        is_list = all(line.startswith("- ") for line in text.splitlines())
        assert is_list if response["style"] == "bullet" else "\n\n" in text
        markers = MARKER.findall(text)
        assert text.count("[") == len(markers) >= 5  # every bracket is a marker
        assert all(0 <= int(index) < 20 for marker in markers for index in marker.split(","))


def test_the_questionnaire_asks_the_seven_dimensions():
    questionnaire = json.loads((FOLDER / "questionnaire.json").read_text("utf-8"))
    assert questionnaire["type"] == "pairwise"
    assert questionnaire["instructions"]
    asked = {
        question["name"]: [option["value"] for option in question["options"]] for question in questionnaire["questions"]
    }
    assert tuple(asked) == DIMENSIONS
    assert asked == {name: [-1, 0, 1] for name in DIMENSIONS} | {"quality_overall": [-1, 1]}
    assert all(question["text"] and question["description"] for question in questionnaire["questions"])


def test_systems_follow_from_the_topics_with_sentences_of_the_cited_passage(topics):
    systems = lines("systems.jsonl")
    assert systems == baseline_systems.responses(topics)
    pairs = {(response["topic"], response["run"]) for response in systems}
    assert pairs == {(topic["topic"], run) for topic in topics for run in ("bm25-extract", "lead-summary")}
    passages = {topic["topic"]: topic["passages"] for topic in topics}
    for response in systems:
        assert 50 <= sum(len(statement["text"].split()) for statement in response["statements"]) <= 300
        for statement in response["statements"]:
            [index] = statement["citations"]
            assert statement["text"] in passages[response["topic"]][index]["text"]


def test_bm25_prefers_rare_words_and_short_sentences():
    statements = baseline_systems.bm25_extract(
        "blue whale", ["A blue sky. A whale. A blue sea.", "A blue door and so on. A blue door."], depth=2, length=2
    )
    # In the first passage the rarer of the two words wins; in the second the shorter of two sentences with the same.
    assert [(statement.text, statement.citations) for statement in statements] == [
        ("A whale.", (0,)),
        ("A blue door.", (1,)),
    ]


def test_expected_merits_name_what_exists(responses):
    expected = json.loads((FOLDER / "expected_merits.json").read_text("utf-8"))
    assert set(expected["responses"]) == {response["response"] for response in responses}
    assert set(expected["runs"]) == {response["run"] for response in lines("systems.jsonl")}
    # Some are meant to be weaker than others, so that grades have something to show.
    assert min(expected["responses"].values()) < 0 < max(expected["responses"].values())
