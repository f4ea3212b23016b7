"""Which questions take part in fair RAG: known before anything is asked, named, and nothing is paid for the others."""

import json
from pathlib import Path

import pytest

from analysis.experiments import services
from analysis.experiments.experiment import BadParameterError, get
from analysis.experiments.fair_rag import eligibility
from crowdrag.jobs import kinds, lifecycle, run_files
from tests.analysis.experiments.fair_rag.test_run import SMALL, _line, planted, rows  # noqa: F401 - a fixture among them
from tests.factories import StudyFactory

pytestmark = pytest.mark.django_db

WORDS = ("alder", "noise", "birch", "", "cedar")


@pytest.fixture
def asked(tmp_path: Path, endpoint):
    """Make an order on questions of which some documents have no score."""
    study = StudyFactory()

    def _order(*, bare: dict[str, int | None], others: int = 0, **given):
        """`bare`: by question which of its documents has no score, None for none of them."""
        lines = [_line(name, WORDS[number:] + WORDS[:number]) for number, name in enumerate(bare)]
        for line in lines:
            if (place := bare[line["id"]]) is not None:
                del line["documents"][place]["score"]
        path = tmp_path / "planted.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        upload = run_files.store_upload(study=study, source=path)
        collection = {"source": "qa", "upload": upload.pk} | ({"others": others} if others else {})
        parameters = {"generator": f"endpoint:{endpoint.name}", "collection": collection}
        return services.order(get("fair"), study, parameters | SMALL | given)

    return _order


@pytest.mark.extended
def test_a_question_without_scores_is_named_by_the_estimate_and_nothing_is_asked_about_it(asked, planted) -> None:  # noqa: F811
    order = asked(bare={"q0": None, "q1": 4, "q2": None})
    expected = services.forecast(order)
    assert (expected.estimate.queries, expected.estimate.left_out) == (2, 1)
    assert "q1" in expected.estimate.note
    found = rows(lifecycle.wait(services.start(order)))
    assert not any("in q1?" in message.content for prompt in planted.seen for message in prompt.messages)
    assert {row["query"] for row in found["fair_queries"]} == {"q0", "q2"}
    assert found["fair_left_out"] == [
        {"reason": "", "queries": 2, "in_file": None, "named": None},
        {"reason": eligibility.NO_SCORES, "queries": 1, "in_file": None, "named": "q1"},
    ]


@pytest.mark.parametrize("others", [0, 2])
def test_where_no_question_has_scores_the_run_is_refused_before_anything_is_asked(asked, planted, others) -> None:  # noqa: F811
    # Documents of other questions have no score: with them, given never has what it needs.
    order = asked(bare={"q0": None, "q1": None} if others else {"q0": 0, "q1": 3}, others=others)
    with pytest.raises(BadParameterError, match="q0, q1"):
        services.forecast(order)
    with pytest.raises(kinds.InputRejectedError):
        services.start(order)
    assert planted.seen == []


def test_other_retrievers_need_no_scores(asked) -> None:
    found = rows(lifecycle.wait(services.start(asked(bare={"q0": 0, "q1": 1}, retrievers=["bm25"]))))
    assert found["fair_left_out"][0]["queries"] == 2


def test_of_many_that_are_left_out_the_first_are_named() -> None:
    assert eligibility.named(["a", "b"]) == "a, b"
    assert eligibility.named([str(n) for n in range(1200)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (1,200)"


def test_what_was_left_out_of_the_file_is_no_question_of_the_run(planted, endpoint, tmp_path) -> None:  # noqa: F811
    study = StudyFactory()
    lines = [_line(name, WORDS) for name in ("q0", "q1")]
    lines[1]["documents"].append(lines[1]["documents"][0])
    path = tmp_path / "planted.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    collection = {"source": "qa", "upload": run_files.store_upload(study=study, source=path).pk}
    order = services.order(
        get("fair"), study, {"generator": f"endpoint:{endpoint.name}", "collection": collection} | SMALL
    )
    assert rows(lifecycle.wait(services.start(order)))["fair_left_out"] == [
        {"reason": "", "queries": 2, "in_file": None, "named": None},
        {"reason": "document listed twice for its question", "queries": None, "in_file": 1, "named": None},
    ]
