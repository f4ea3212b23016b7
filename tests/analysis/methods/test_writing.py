"""Tables about writing: counted by hand, at their edges, and to the byte."""

import pytest

from analysis.inputs import arrays
from analysis.methods import text_features
from analysis.methods.citations import compute as citations_compute
from analysis.methods.key_figures import compute as key_figures_compute
from analysis.methods.lengths import compute as lengths_compute
from analysis.methods.readability import compute as readability_compute
from analysis.methods.response_groups import NOTHING, ONE_TOPIC, Resampling
from analysis.methods.surveys import compute as surveys_compute
from analysis.methods.writing_process import compute as writing_process_compute
from analysis.text.readability import flesch
from tests.analysis.methods.written_by_hand import TEXTS, analysed


def tables_of(context):
    """The tables about responses, their citations and their reading ease."""
    computed = (lengths_compute, citations_compute, readability_compute)
    return {name: rows for method in computed for name, rows in method.compute_tables(context).items()}


@pytest.fixture(scope="module")
def tables():
    return tables_of(analysed())


def cells(rows, value, **key):
    return [row[value] for row in rows if row.items() >= key.items()]


def one(rows, value="value", **key):
    (found,) = cells(rows, value, **key)
    return found


def test_responses_are_counted(tables):
    rows = {row["response"]: row for row in tables["responses"]}
    names = ("words", "statements", "citations", "cited_passages")
    assert [rows["h1"][name] for name in names] == [6, 3, 3, 2]
    assert [rows["m1"][name] for name in names] == [4, 2, 4, 3]
    assert [rows["s1"][name] for name in names] == [4, 1, 0, 0]
    assert rows["s1"]["source_flesch"] is None
    assert rows["s1"]["note"] == lengths_compute.NOTHING_CITED
    assert "note" not in rows["h1"]


def test_reading_ease_is_the_median_of_statements_and_of_what_each_cites(tables):
    row = next(row for row in tables["responses"] if row["response"] == "h1")
    assert row["flesch"] == sorted(map(flesch, ["Cats sleep.", "Dogs bark.", "The end."]))[1]
    # Passage 2 twice, passage 0 once: the median of three.
    assert row["source_flesch"] == flesch("Birds sing in spring.")


def test_lengths_leave_out_non_responses_and_count_parts(tables):
    rows = tables["lengths"]
    key = {"style": "all", "origin": "human", "statistic": "mean"}
    assert one(rows, measure="words", **key) == 6.0  # "No." is too short to be a response
    assert one(rows, "n", measure="words", **key) == 2
    assert one(rows, measure="statements", **key) == 3.0
    # Passages 2, 0 of h1 are cited by 2 and 1 statements; 3, 1, 0 of h2 by one each.
    assert one(rows, measure="citations_per_passage", **key) == pytest.approx(6 / 5)
    assert one(rows, "n", measure="citations_per_passage", **key) == 5
    assert one(rows, measure="passages_per_statement", **key) == pytest.approx(6 / 6)
    assert one(rows, measure="words", style="essay", origin="human", statistic="median") == 6.0


def test_overlap_of_sets(tables):
    rows = tables["citation_overlap"]
    assert one(rows, "jaccard", style="essay", pair="human_model") == pytest.approx(2 / 3)  # {0, 2} and {0, 1, 2}
    assert one(rows, "jaccard", style="news", pair="human_model") == 1.0
    assert one(rows, "jaccard", style="all", pair="human_model") == pytest.approx(5 / 6)
    assert one(rows, "jaccard", style="essay", pair="model_retrieved") == 3 / 4
    assert one(rows, "jaccard", style="essay", pair="system_retrieved") == 0.0
    assert one(rows, "jaccard", style="essay", pair="human_system") == 0.0
    # h3 is alone in its slot; it cites nothing of the four.
    assert one(rows, "n", style="essay", pair="human_retrieved") == 2
    assert not cells(rows, "jaccard", style="news", pair="human_system")


def test_order_of_citations(tables):
    rows = tables["citation_order"]
    assert one(rows, "rho", style="essay", pair="human_retrieved") == -1.0  # 2 before 0
    assert one(rows, "rho", style="news", pair="human_retrieved") == -1.0  # 3, 1, 0
    assert one(rows, "rho", style="news", pair="model_retrieved") == 1.0
    assert one(rows, "rho", style="news", pair="human_model") == -1.0
    assert one(rows, "rho", style="essay", pair="human_model") == -1.0  # 2, 0 against 0, 2
    row = next(row for row in rows if row["pair"] == "system_retrieved" and row["style"] == "all")
    assert (row["rho"], row["n"], row["note"]) == (None, 0, NOTHING)


def test_other_lists_of_passages_are_compared_by_passage_and_two_people_are_a_pair_too():
    found = tables_of(analysed(other=("m2",)))
    # m2 cites 0, 1, 3 of the reversed list: passages 3, 2, 0; h2 cites 3, 1, 0.
    assert one(found["citation_overlap"], "jaccard", style="news", pair="human_model") == pytest.approx(2 / 4)
    assert one(found["citation_order"], "rho", style="news", pair="human_model") == 1.0
    texts = TEXTS | {"h4": ("t1", "essay", "human", "Cats sleep [0]. All of them do.")}
    found = tables_of(analysed(texts))
    assert one(found["citation_overlap"], "jaccard", style="essay", pair="human_human") == 1 / 2


def test_ranks(tables):
    rows = [row for row in tables["citation_ranks"] if (row["style"], row["origin"]) == ("all", "human")]
    assert [row["probability"] for row in rows] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3])
    assert {row["n"] for row in rows} == {3}
    medians = tables["citation_rank_medians"]
    assert one(medians, "median_rank", style="essay", origin="human", passages="cited") == 1.0  # 0 and 2; h3 cites none
    assert one(medians, "n", style="essay", origin="human", passages="cited") == 1
    assert one(medians, "median_rank", style="essay", origin="human", passages="uncited") == (2.0 + 1.5) / 2
    assert one(medians, "median_rank", style="essay", origin="system", passages="cited") is None


def test_density(tables):
    rows = [row for row in tables["citation_density"] if (row["style"], row["origin"]) == ("essay", "human")]
    # Of 29 characters statements end at 11 and 21: in the second and third quarter. h3 cites nothing.
    assert [row["density"] for row in rows] == [0.0, 2.0, 2.0, 0.0]
    assert [row["per_response"] for row in rows] == [0.0, 0.5, 0.5, 0.0]
    assert [(row["start"], row["end"]) for row in rows] == [(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)]


def test_without_other_topics_reading_ease_or_texts_figures_are_missing_with_their_reasons():
    found = tables_of(analysed({name: about for name, about in TEXTS.items() if about[0] == "t1"}))
    assert {row["note"] for row in found["lengths"] if row["value"] is not None} == {ONE_TOPIC}
    assert all(row["low"] is None for row in found["citation_overlap"])
    found = tables_of(analysed(language="de"))
    assert {(row["flesch"], row["note"]) for row in found["responses"]} == {(None, text_features.NO_EASE)}
    assert found["readability"] == []
    assert one(found["citation_overlap"], "jaccard", style="news", pair="human_model") == 1.0
    at_work = analysed()
    at_work.texts = ()
    assert tables_of(at_work) == {}


def test_texts_without_anything_in_them():
    texts = {"h1": ("t1", "essay", "human", ""), "m1": ("t2", "essay", "model", "[0]")}
    found = tables_of(analysed(texts))
    rows = {row["response"]: row for row in found["responses"]}
    assert (rows["h1"]["statements"], rows["h1"]["flesch"], rows["h1"]["note"]) == (
        0,
        None,
        lengths_compute.NO_STATEMENT,
    )
    assert (rows["m1"]["statements"], rows["m1"]["citations"]) == (1, 1)
    assert found["lengths"] == []
    assert one(found["citation_overlap"], "jaccard", style="essay", pair="model_retrieved") == 1 / 4
    assert all(row["density"] is None and row["note"] == NOTHING for row in found["citation_density"])


ANSWERS = (("entry", "knows", (1, 2, 3, 3)), ("exit", "glad", (-1, 0, 1, 1)), ("exit", "knows", (2, 2, 2, 2)))


def answered(answers=ANSWERS):
    given = tuple(arrays.Answer(at, kind, q, float(v)) for kind, q, values in answers for at, v in enumerate(values))
    return analysed(answers=given)


def test_surveys_by_hand():
    rows = {row["name"]: row for row in surveys_compute.compute_tables(answered())["survey"]}
    assert rows["entry_knows_mean"]["value"] == 2.25
    assert rows["entry_knows_median"]["value"] == 2.5
    assert rows["entry_knows_share_3"]["value"] == 0.5
    assert rows["glad_share_-1"]["value"] == 0.25
    about = {"kind": "exit", "question": "glad", "statistic": "share", "option": -1.0, "n": 4}
    assert rows["glad_share_-1"].items() >= about.items()
    assert rows["entry_knows_glad_rho"]["value"] == pytest.approx(1.0)
    constant = next(row for name, row in rows.items() if name.endswith("_rho") and "exit_knows" in name)
    assert (constant["value"], bool(constant["note"])) == (None, True)
    assert surveys_compute.compute_tables(analysed()) == {}


def test_questions_with_many_answers_have_no_shares(monkeypatch):
    monkeypatch.setattr(surveys_compute, "MOST_OPTIONS", 5)
    found = surveys_compute.compute_tables(answered((("entry", "age", (21, 34, 55, 28, 40, 61)),)))
    assert {row["name"] for row in found["survey"]} == {"age_mean", "age_median"}


def test_processes_by_hand():
    kept = (
        arrays.Process(0, {"seconds": 10.0, "pauses": 2, "pasted_share": 0.5}),
        arrays.Process(1, {"seconds": 30.0, "pauses": 4, "pasted_share": None}),
        arrays.Process(2, {}),
    )
    found = writing_process_compute.compute_tables(analysed(processes=kept))
    rows = {row["response"]: row for row in found["writing_process"]}
    assert rows["h1"]["seconds"] == 10.0
    assert rows["h1"]["note"] == writing_process_compute.NOT_RECORDED
    assert rows["h3"]["note"] == writing_process_compute.UNREADABLE
    means = found["writing_process_means"]
    assert one(means, style="all", origin="human", measure="seconds", statistic="mean") == 20.0
    assert one(means, "n", style="all", origin="human", measure="pasted_share", statistic="mean") == 1
    assert not cells(means, "value", measure="bursts")
    assert writing_process_compute.compute_tables(analysed()) == {}


@pytest.mark.parametrize(("topics", "has_interval"), [(5, False), (6, True)])
def test_median_times_of_few_topics_have_no_interval(topics, has_interval):
    texts = {f"r{n}": (f"t{n}", "essay", "human", "Cats sleep [0].") for n in range(topics)}
    times = tuple(arrays.Process(n, {"seconds": 60.0 * 2**n}) for n in range(topics))
    found = analysed(texts, processes=times, resamples=200)
    resampling = Resampling.of(found.inputs.responses, found.settings, found.seed)
    rows = {row["name"]: row for row in key_figures_compute.writing(found.inputs, resampling)}
    assert (rows["minutes_per_response_median"]["low"] is not None) == has_interval
    assert rows["minutes_per_response_mean"]["low"] is not None
