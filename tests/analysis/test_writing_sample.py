"""How the sample's responses were written, against the paper's figures of the whole corpus, and another parser."""

import gzip
import json
import os
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from analysis.domain import inputs
from analysis.domain.results import survey, writing
from analysis.domain.results.family import Analysed
from analysis.domain.results.settings import Settings
from analysis.domain.texts import TopicTexts, Written, digest
from analysis.text.statements import parse

from .rows import row_of

DATA = os.environ.get("CROWDRAG_DATA")
pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the sample of CrowdRAG-25 is not at hand"),
]

STYLES = ("bullet", "essay", "news")
QUESTIONS = {
    "entry": ("query_answerable", "query_controversial", "worker_knowledge", "worker_expertise"),
    "exit": ("worker_satisfaction", "references_quality", "references_extra", "references_omission"),
}
# As in the published script, but that a bracket has to hold indices: a statement and the brackets behind it.
STATEMENT = re.compile(r"(.+?)((?:\[\s*\d[\d,\s]*\][ ,]*)+)[.,;:!?]*", re.DOTALL)


def lines(name):
    with gzip.open(Path(DATA or "", "crowdrag25", "raw", f"{name}.jsonl.gz"), "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


@pytest.fixture(scope="module")
def raw():
    """Every response: topic, style, origin, text; and the tasks."""
    texts = {}
    for row in lines("study1_responses_human"):
        texts[row["response"]] = (row["topic"], row["style"], "human", row["text"])  # the last snapshot is the response
    for row in lines("study1_responses_llm"):
        texts[row["response"]] = (row["topic"], row["style"], "model", row["text"])
    return texts, list(lines("study1_tasks"))


@pytest.fixture(scope="module")
def tables(raw):
    texts, tasks = raw
    passages = {row["topic"]: row["references_texts"] for row in lines("study1_retrieval")}
    topics = sorted({topic for topic, *_ in texts.values()})
    names = sorted(texts)
    place = {name: i for i, name in enumerate(names)}
    known = [{digest(text): text for text in passages[topic]} for topic in topics]
    every = sorted({name for each in known for name in each})
    at = {name: i for i, name in enumerate(every)}
    responses = tuple(
        inputs.Response(name, topic, style, origin, "w", parse(text, passages=20).words, digest(text),
                        topics.index(topic))
        for name, (topic, style, origin, text) in ((name, texts[name]) for name in names)
    )  # fmt: skip
    answers = tuple(
        inputs.Answer(place[row["response"]], kind, question, float(row[question]))
        for row in tasks
        for kind, questions in QUESTIONS.items()
        for question in questions
        if row.get(question) is not None and row["response"] in place
    )
    taken = inputs.Inputs(
        pool="crowd", topics=tuple(topics), styles=STYLES, dimensions=(), responses=responses, pools={},
        passages=tuple(every), rankings=tuple(tuple(at[digest(text)] for text in passages[t]) for t in topics),
        answers=answers,
    )  # fmt: skip
    of_topic = defaultdict(list)
    for name in names:
        topic, _style, _origin, text = texts[name]
        of_topic[topic].append(
            Written(place[name], text, parse(text, passages=20), tuple(passages[topic]), topics.index(topic))
        )
    analysed = Analysed(
        inputs=taken, texts=[TopicTexts(topic, tuple(of_topic[topic])) for topic in topics],
        settings=Settings(resamples=100), seed=0, fitted={}, masks={}, step=lambda _: None,
    )  # fmt: skip
    return writing.family(analysed) | survey.family(analysed)


def test_statements_and_citations_of_each_response_are_those_of_another_pattern(raw, tables):
    same = []
    for row in tables["responses"]:
        text, statements, end = raw[0][row["response"]][3], 0, 0
        cited: list[int] = []
        for match in STATEMENT.finditer(text):
            indices = dict.fromkeys(int(n) for n in re.findall(r"\d+", match.group(2)))
            cited += [n for n in indices if n < 20]
            statements, end = statements + 1, match.end()
        statements += bool(re.search(r"\w", text[end:]))
        counts = (statements, len(cited), len(set(cited)))
        same.append(counts == (row["statements"], row["citations"], row["cited_passages"]))
    assert len(same) == 900
    assert np.mean(same) > 0.985  # the rest holds ranges, or brackets that only one of the two patterns takes


def test_overlap_is_that_of_table_3(tables):
    """Of people with what they were shown, of models with it, and of each with the other."""
    table_3 = {"bullet": (0.22, 0.54, 0.30), "essay": (0.43, 0.41, 0.38), "news": (0.29, 0.43, 0.31)}
    for style, printed in table_3.items():
        for pair, value in zip(("human_retrieved", "model_retrieved", "human_model"), printed, strict=True):
            row = row_of(tables["citation_overlap"], style=style, pair=pair)
            assert row["jaccard"] == pytest.approx(value, abs=0.025)


@pytest.mark.parametrize(("origin", "paper"), [("human", (6.3, 2.1, 1.62)), ("model", (9.2, 1.35, 1.93))])
def test_lengths_are_near_the_papers_and_models_cite_later(tables, origin, paper):
    """Sections 4.1 and 4.5: cited documents, citations of a document, documents in a statement; where they stand."""
    names = ("cited_passages", "citations_per_passage", "passages_per_statement")
    for name, printed in zip(names, paper, strict=True):
        row = row_of(tables["lengths"], style="all", origin=origin, statistic="mean", measure=name)
        assert row["low"] < row["value"] < row["high"]
        assert row["value"] == pytest.approx(printed, rel=0.05)
    rows = [row for row in tables["citation_density"] if (row["style"], row["origin"]) == ("all", origin)]
    assert np.mean([row["density"] for row in rows]) == pytest.approx(1)
    people = row_of(tables["citation_density"], style="all", origin="human", bin=1)["density"]
    assert origin == "human" or rows[0]["density"] < people


def test_readability_is_as_published_in_kind(tables):
    """Figure 5: people write about as their sources read, models far harder."""
    middle = {
        (row["origin"], row["measure"]): row
        for row in tables["readability"]
        if row["style"] == "all" and row["statistic"] == "median"
    }
    assert middle["model", "flesch"]["high"] < 25 < middle["human", "flesch"]["low"]
    assert abs(middle["human", "difference"]["value"]) < 8
    assert middle["model", "difference"]["high"] < -20


def test_survey_is_near_the_papers(tables):
    """Section 3.1.4."""
    rows = {row["name"]: row for row in tables["survey"]}
    rho = rows["worker_expertise_worker_knowledge_rho"]
    assert rho["low"] < 0.88 < rho["high"]
    rho = rows["references_extra_references_quality_rho"]
    assert rho["low"] < -0.04 < rho["high"]
    assert (rows["worker_expertise_median"]["value"], rows["worker_knowledge_median"]["value"]) == (1, 2)
    for name, share in (("references_extra", 0.66), ("references_omission", 0.60), ("worker_satisfaction", 0.87)):
        assert rows[f"{name}_share_1"]["value"] == pytest.approx(share, abs=0.03)
