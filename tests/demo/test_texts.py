"""The demo's texts: enough of them, well formed, and what they claim to be."""

import json
import re
import uuid
from collections import Counter
from pathlib import Path

import pytest

import crowdrag.demo.texts
from crowdrag.demo.crowd import DIMENSIONS
from crowdrag.demo.texts import runs

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


def test_topics_have_twenty_passages_each(topics):
    assert len(topics) >= 4
    for topic in topics:
        assert set(topic) == {"topic", "query", "passages"}
        assert len(topic["passages"]) == 20
    assert len({topic["topic"] for topic in topics}) == len({topic["query"] for topic in topics}) == len(topics)


def test_passages_are_distinct_and_of_a_readable_length(topics):
    passages = [passage for topic in topics for passage in topic["passages"]]
    assert len({passage["id"] for passage in passages}) == len(passages)
    assert len({passage["text"] for passage in passages}) == len(passages)
    for passage in passages:
        assert set(passage) == {"id", "text", "score"}
        assert 50 <= len(passage["text"].split()) <= 90, passage["id"]
        assert "[" not in passage["text"]  # a bracket would read as a citation where a passage is copied


def test_no_two_passages_share_a_long_phrase(topics):
    """Twelve words in a row occur in one passage only: nothing was written twice."""
    seen = {}
    for topic in topics:
        for passage in topic["passages"]:
            words = re.findall(r"[a-z]+", passage["text"].lower())
            for at in range(len(words) - 11):
                phrase = tuple(words[at : at + 12])
                assert seen.setdefault(phrase, passage["id"]) == passage["id"], " ".join(phrase)


def test_passages_stand_in_the_order_of_their_scores(topics):
    for topic in topics:
        scores = [passage["score"] for passage in topic["passages"]]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == len(scores)
        ranks = [int(passage["id"].rpartition("#")[2]) for passage in topic["passages"]]
        assert ranks == list(range(1, 21))


def test_writers_fill_half_of_the_slots_and_leave_some_to_the_model(topics, responses):
    slots = {(response["topic"], response["style"]) for response in responses}
    every = {(topic["topic"], style) for topic in topics for style in STYLES}
    assert slots <= every
    assert len(slots) == len(responses)  # one response a slot
    assert len(every) / 2 <= len(slots) < len(every)
    assert {topic for topic, _ in slots} == {topic["topic"] for topic in topics}
    assert {style for _, style in slots} == set(STYLES)


def test_responses_are_well_formed(topics, responses):
    assert len({uuid.UUID(response["response"]) for response in responses}) == len(responses)
    for response in responses:
        assert set(response) == {"response", "topic", "style", "writer", "text"}
        assert 50 <= len(response["text"].split()) <= 300
        if response["style"] == "bullet":
            assert all(line.startswith("- ") for line in response["text"].splitlines())
        else:
            assert "\n\n" in response["text"]


def test_citations_name_passages_that_exist(responses):
    for response in responses:
        markers = MARKER.findall(response["text"])
        assert len(markers) >= 5
        assert response["text"].count("[") == len(markers)  # every bracket is a marker
        cited = [int(index) for marker in markers for index in marker.split(",")]
        assert all(0 <= index < 20 for index in cited)


def test_responses_of_one_topic_do_not_repeat_each_other(responses):
    for topic, count in Counter(response["topic"] for response in responses).items():
        texts = {MARKER.sub("", response["text"]) for response in responses if response["topic"] == topic}
        assert len(texts) == count


def test_systems_follow_from_the_topics_by_the_documented_rule(topics):
    assert lines("systems.jsonl") == runs.responses(topics)


def test_systems_respond_to_every_topic_with_sentences_of_the_cited_passage(topics):
    systems = lines("systems.jsonl")
    pairs = {(response["topic"], response["run"]) for response in systems}
    assert pairs == {(topic["topic"], run) for topic in topics for run in ("bm25-extract", "lead-summary")}
    passages = {topic["topic"]: topic["passages"] for topic in topics}
    for response in systems:
        assert 50 <= sum(len(statement["text"].split()) for statement in response["statements"]) <= 300
        for statement in response["statements"]:
            [index] = statement["citations"]
            assert statement["text"] in passages[response["topic"]][index]["text"]


def test_bm25_prefers_rare_words_and_short_sentences():
    statements = runs.bm25_extract(
        "blue whale", ["A blue sky. A whale. A blue sea.", "A blue door and so on. A blue door."], depth=2, length=2
    )
    # In the first passage the rarer of the two words wins; in the second the shorter of two sentences with the same.
    assert [(statement.text, statement.citations) for statement in statements] == [
        ("A whale.", (0,)),
        ("A blue door.", (1,)),
    ]


def test_questionnaire_asks_the_seven_dimensions():
    questionnaire = json.loads((FOLDER / "questionnaire.json").read_text("utf-8"))
    assert set(questionnaire) == {"instructions", "type", "questions"}
    assert questionnaire["type"] == "pairwise"
    assert questionnaire["instructions"].startswith("# ")
    assert tuple(question["name"] for question in questionnaire["questions"]) == DIMENSIONS
    for question in questionnaire["questions"]:
        values = [option["value"] for option in question["options"]]
        assert values == ([-1, 1] if question["name"] == "quality_overall" else [-1, 0, 1])
        assert question["justification"] is False
        assert question["text"].startswith("Which response ")
        assert question["description"]


def test_expected_merits_name_what_exists(responses):
    expected = json.loads((FOLDER / "expected_merits.json").read_text("utf-8"))
    assert set(expected["responses"]) == {response["response"] for response in responses}
    assert set(expected["runs"]) == {response["run"] for response in lines("systems.jsonl")}
    # Some are meant to be weaker than others, so that grades have something to show.
    assert min(expected["responses"].values()) < 0 < max(expected["responses"].values())
