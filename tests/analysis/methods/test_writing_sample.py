"""How the sample's responses were written: our tables against computations of their own on the raw files.

Nothing here goes through our parser, our facts or our statistics: statements are cut with the published pattern, rho is
scipy's, means are numpy's. The paper's figures, of the whole corpus, stand beside them.
"""

import gzip
import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.inputs import arrays
from analysis.inputs.texts import ResponseText, TopicTexts, digest
from analysis.methods.citations import compute as citations_compute
from analysis.methods.context import Context
from analysis.methods.lengths import compute as lengths_compute
from analysis.methods.readability import compute as readability_compute
from analysis.methods.settings import AnalysisSettings
from analysis.methods.surveys import compute as surveys_compute
from analysis.text.statements import parse
from tests.analysis.rows import row_of

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
        arrays.Response(name, topic, style, origin, "w", parse(text, passages=20).words, digest(text),
                        topics.index(topic))
        for name, (topic, style, origin, text) in ((name, texts[name]) for name in names)
    )  # fmt: skip
    answers = tuple(
        arrays.Answer(place[row["response"]], kind, question, float(row[question]))
        for row in tasks
        for kind, questions in QUESTIONS.items()
        for question in questions
        if row.get(question) is not None and row["response"] in place
    )
    taken = arrays.Inputs(
        pool="crowd", topics=tuple(topics), styles=STYLES, dimensions=(), responses=responses, pools={},
        passages=tuple(every), rankings=tuple(tuple(at[digest(text)] for text in passages[t]) for t in topics),
        answers=answers,
    )  # fmt: skip
    of_topic = defaultdict(list)
    for name in names:
        topic, _style, _origin, text = texts[name]
        of_topic[topic].append(
            ResponseText(place[name], text, parse(text, passages=20), tuple(passages[topic]), topics.index(topic))
        )
    analysed = Context(
        inputs=taken, texts=[TopicTexts(topic, tuple(of_topic[topic])) for topic in topics],
        settings=AnalysisSettings(resamples=100), seed=0, fitted={}, masks={}, step=lambda _: None,
    )  # fmt: skip
    methods = (lengths_compute, citations_compute, readability_compute, surveys_compute)
    return {name: rows for method in methods for name, rows in method.compute_tables(analysed).items()}


@pytest.fixture(scope="module")
def cut(raw):
    """Each response's statements as pairs of text and cited indices, by a pattern of this test's own."""
    found = {}
    for name, (topic, style, origin, text) in raw[0].items():
        statements, end = [], 0
        for match in STATEMENT.finditer(text):
            indices = [int(n) for n in re.findall(r"\d+", match.group(2))]
            statements.append((match.group(1), [n for n in dict.fromkeys(indices) if n < 20]))
            end = match.end()
        if re.search(r"\w", text[end:]):
            statements.append((text[end:], []))
        found[name] = (topic, style, origin, statements)
    return found


def first_cited(statements):
    return list(dict.fromkeys(n for _text, cited in statements for n in cited))


def test_statements_and_citations_of_each_response_are_those_of_the_other_pattern(cut, tables):
    same = [
        row["statements"] == len(cut[row["response"]][3])
        and row["citations"] == sum(len(cited) for _text, cited in cut[row["response"]][3])
        and row["cited_passages"] == len(first_cited(cut[row["response"]][3]))
        for row in tables["responses"]
    ]
    assert len(same) == 900
    assert np.mean(same) > 0.985  # the rest holds ranges, or brackets that only one of the two patterns takes


@pytest.mark.parametrize("style", STYLES)
def test_overlap_and_order_are_those_of_sets_and_of_scipy(cut, tables, style):
    """Table 3, on the sample. Paper: overlap 0.22, 0.43, 0.29 (human), 0.54, 0.41, 0.43 (model), 0.30, 0.38, 0.31."""
    slots = defaultdict(dict)
    for topic, of_style, origin, statements in cut.values():
        if of_style == style:
            slots[topic][origin] = first_cited(statements)
    overlap, order = defaultdict(list), defaultdict(list)
    for slot in slots.values():
        human, model = slot["human"], slot["model"]
        for origin, cited in slot.items():
            overlap[f"{origin}_retrieved"].append(len(cited) / 20)
            if len(cited) > 1:
                order[f"{origin}_retrieved"].append(spearmanr(cited, range(len(cited)))[0])
        if human or model:
            overlap["human_model"].append(len({*human} & {*model}) / len({*human} | {*model}))
        shared = [each for each in human if each in model]
        if len(shared) > 1:
            order["human_model"].append(
                spearmanr([human.index(n) for n in shared], [model.index(n) for n in shared])[0]
            )
    for pair in ("human_retrieved", "model_retrieved", "human_model"):
        found = row_of(tables["citation_overlap"], style=style, pair=pair)["jaccard"]
        assert found == pytest.approx(np.mean(overlap[pair]), abs=0.004)
        found = row_of(tables["citation_order"], style=style, pair=pair)["rho"]
        assert found == pytest.approx(np.mean(order[pair]), abs=0.01)
    paper = {"bullet": (0.22, 0.54, 0.30), "essay": (0.43, 0.41, 0.38), "news": (0.29, 0.43, 0.31)}[style]
    for pair, printed in zip(("human_retrieved", "model_retrieved", "human_model"), paper, strict=True):
        assert row_of(tables["citation_overlap"], style=style, pair=pair)["jaccard"] == pytest.approx(
            printed, abs=0.025
        )


@pytest.mark.parametrize(("origin", "paper"), [("human", (6.3, 2.1, 1.62)), ("model", (9.2, 1.35, 1.93))])
def test_lengths_are_those_of_a_count_and_near_the_papers(cut, tables, origin, paper):
    """Section 4.1: cited documents, citations of a document, documents in a statement."""
    cited, times, by_statement = [], [], []
    for _topic, _style, of, statements in cut.values():
        words = sum(len(text.split()) for text, _cited in statements)
        if of == origin and words >= 50:
            counted = Counter(n for _text, each in statements for n in each)
            cited.append(len(counted))
            times += counted.values()
            by_statement += [len(each) for _text, each in statements]
    names = ("cited_passages", "citations_per_passage", "passages_per_statement")
    for name, values, printed in zip(names, (cited, times, by_statement), paper, strict=True):
        row = row_of(tables["lengths"], style="all", origin=origin, statistic="mean", measure=name)
        assert row["value"] == pytest.approx(np.mean(values), rel=0.01)
        assert row["low"] < row["value"] < row["high"]
        assert row["value"] == pytest.approx(printed, rel=0.05)


def test_probability_by_rank_and_median_ranks_are_those_of_a_count(cut, tables):
    for origin in ("human", "model"):
        cited = [first_cited(statements) for *_, of, statements in cut.values() if of == origin]
        for rank in (0, 7, 19):
            found = row_of(tables["citation_ranks"], style="all", origin=origin, rank=rank)["probability"]
            assert found == pytest.approx(np.mean([rank in each for each in cited]), abs=0.005)
        rests = [[n for n in range(20) if n not in each] for each in cited]
        for name, ranks in (("cited", cited), ("uncited", rests)):
            row = row_of(tables["citation_rank_medians"], style="all", origin=origin, passages=name)
            assert row["median_rank"] == pytest.approx(np.mean([median(each) for each in ranks if each]), abs=0.05)


def test_density_is_the_histogram_of_where_statements_end(cut, tables):
    for origin in ("human", "model"):
        places = []
        for *_, of, statements in cut.values():
            if of == origin:
                ends = np.cumsum([len(text.strip()) + 1 for text, _cited in statements])
                places += [end / ends[-1] for end, (_text, cited) in zip(ends, statements, strict=True) if cited]
        counts, _edges = np.histogram(places, bins=20, range=(0, 1))
        rows = [row for row in tables["citation_density"] if (row["style"], row["origin"]) == ("all", origin)]
        found = np.array([row["density"] for row in rows])
        assert found.mean() == pytest.approx(1)
        np.testing.assert_allclose(found, counts / counts.sum() * 20, atol=0.25)
        assert np.corrcoef(found, counts)[0, 1] > 0.98
    model, human = (row_of(tables["citation_density"], style="all", origin=o, bin=1) for o in ("model", "human"))
    assert model["density"] < human["density"]  # section 4.5: models cite later


def test_readability_is_as_published_in_kind(tables):
    """Figure 5: people write about as their sources read, models far harder."""
    middle = {"style": "all", "statistic": "median"}
    human, model = (row_of(tables["readability"], origin=o, measure="flesch", **middle) for o in ("human", "model"))
    assert model["high"] < 25 < human["low"]
    human, model = (row_of(tables["readability"], origin=o, measure="difference", **middle) for o in ("human", "model"))
    assert abs(human["value"]) < 8
    assert model["high"] < -20


def test_survey_is_that_of_the_raw_answers_and_near_the_papers(raw, tables):
    """Section 3.1.4."""
    rows = {row["name"]: row for row in tables["survey"]}
    answered = {
        q: np.array([row[q] for row in raw[1] if row.get(q) is not None], dtype=float)
        for questions in QUESTIONS.values()
        for q in questions
    }
    for question, values in answered.items():
        assert rows[f"{question}_mean"]["value"] == pytest.approx(values.mean())
        assert rows[f"{question}_median"]["value"] == np.median(values)
        for value in set(values):
            assert rows[f"{question}_share_{value:g}"]["value"] == pytest.approx(np.mean(values == value))
            assert rows[f"{question}_share_{value:g}"]["n"] == len(values)
    both = [(row["worker_knowledge"], row["worker_expertise"]) for row in raw[1] if row["worker_knowledge"] is not None]
    rho = rows["worker_expertise_worker_knowledge_rho"]
    assert rho["value"] == pytest.approx(spearmanr(*zip(*both, strict=True))[0])
    assert rho["low"] < 0.88 < rho["high"]  # the paper's
    rho = rows["references_extra_references_quality_rho"]
    assert rho["low"] < -0.04 < rho["high"]
    assert (rows["worker_expertise_median"]["value"], rows["worker_knowledge_median"]["value"]) == (1, 2)
    for name, share in (("references_extra", 0.66), ("references_omission", 0.60), ("worker_satisfaction", 0.87)):
        assert rows[f"{name}_share_1"]["value"] == pytest.approx(share, abs=0.03)
