"""Fair RAG by the metrics of personalisation: ratings that are none, and all metrics of a task at once."""

import json
from pathlib import Path

import pytest

from analysis.experiments import services
from analysis.experiments.experiment import get
from analysis.experiments.fair_rag import eligibility
from analysis.rag.protocols import Output
from analysis.rag.qa_metrics import METRICS
from analysis.tables.table import TABLES
from crowdrag.jobs import lifecycle, run_files
from tests.analysis.experiments.fair_rag.test_run import SMALL, _line, planted, rows  # noqa: F401 - a fixture among them
from tests.analysis.rag.fair_rag.planted import Planted, said
from tests.factories import StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("planted")]

#: What the first document of a list has the generator answer; without documents it says nothing that is a rating.
RATINGS = ("4", "2017", "3", "1 of 5", "5")


@pytest.fixture
def asked(tmp_path: Path, endpoint, monkeypatch):
    """Make an order on questions with these right answers, to which the generator says what its first document says."""
    study = StudyFactory()
    monkeypatch.setattr(
        Planted, "_answer", lambda _self, content: Output((said(content) or ["2017 was great"])[0], prompt_tokens=9)
    )

    def _order(gold: dict[str, str], *, words=RATINGS, metric="mae", metric_of_run="", **given):
        lines = [_line(name, words, right) | {"metric": metric} for name, right in gold.items()]
        path = tmp_path / "planted.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        upload = run_files.store_upload(study=study, source=path)
        parameters = {"generator": f"endpoint:{endpoint.name}", "collection": {"source": "qa", "upload": upload.pk}}
        return services.order(
            get("fair"), study, parameters | SMALL | {"entailment": "", "metric": metric_of_run} | given
        )

    return _order


def test_a_number_beyond_the_scale_is_no_rating_and_is_counted(asked) -> None:
    found = rows(lifecycle.wait(services.start(asked({"q0": "3", "q1": "1"}))))
    labels = {(row["query"], row["document"]): row for row in found["fair_labels"]}
    # The right rating is 3: nothing is further off than 2, and utility is 4 less that.
    assert [labels["q0", f"d{place}"]["alone"] for place in range(5)] == [3.0, 2.0, 4.0, 2.0, 2.0]
    assert labels["q0", "d0"]["without"] == 2.0
    assert [labels["q1", f"d{place}"]["alone"] for place in range(5)] == [1.0, 0.0, 2.0, 4.0, 0.0]
    assert all(0 <= row["best"] <= 4 for row in found["fair_queries"])
    costs = {row["step"]: row for row in found["fair_costs"]}
    assert costs["labels"]["unreadable"] == 2 * 2  # without documents, and with the second one
    assert costs["rankings"]["unreadable"] > 0
    assert costs["labels"]["failed"] == 0


def test_a_right_answer_that_is_no_rating_leaves_its_question_out_before_anything_is_asked(asked, planted) -> None:  # noqa: F811
    order = asked({"q0": "3", "q1": "splendid", "q2": "2017"})
    assert services.forecast(order).estimate.queries == 1
    found = rows(lifecycle.wait(services.start(order)))
    assert found["fair_left_out"][1] == {
        "reason": eligibility.NO_SCORE,
        "queries": 2,
        "in_file": None,
        "named": "q1, q2",
    }
    assert all("in q0?" in prompt.messages[-1].content for prompt in planted.seen)


def test_all_metrics_of_a_task_come_of_the_same_answers(asked, planted) -> None:  # noqa: F811
    found = rows(lifecycle.wait(services.start(asked({"q0": "3", "q1": "1", "q2": "5"}))))
    made = found["fair_metrics"]
    assert {key for row in made for key in row} == set(TABLES["fair_metrics"].column_names)
    fixed = {row["metric"]: row for row in made if row["rank"] == "deterministic"}
    # The scores of the data put the first document first: all answers are 4.
    assert fixed["mae"]["value"] == pytest.approx((1 + 3 + 1) / 3)
    assert fixed["rmse"]["value"] == pytest.approx(((1 + 9 + 1) / 3) ** 0.5)
    assert [fixed[name]["is_utility"] for name in ("mae", "rmse")] == [True, False]
    utility = {
        (row["rank"], row["alpha"]): row["value"] for row in found["fair_summary"] if row["measure"] == "utility"
    }
    errors = {(row["rank"], row["alpha"]): row["value"] for row in made if row["metric"] == "mae"}
    assert {way: 4 - error for way, error in errors.items()} == pytest.approx(utility)
    assert all(row["low"] <= row["value"] <= row["high"] and row["n"] == 3 for row in made)
    assert len({*planted.seen}) == len(planted.seen) == sum(row["prompts"] for row in found["fair_costs"])


@pytest.mark.extended
def test_the_metric_that_makes_utility_stands_beside_those_of_the_data(asked) -> None:
    texts = ("the cat sat", "a dog", "down sat cat the", "noise", "cat")
    order = asked({"q0": "the cat sat down"}, words=texts, metric="rouge_l", metric_of_run="f1")
    made = rows(lifecycle.wait(services.start(order)))["fair_metrics"]
    fixed = {row["metric"]: row for row in made if row["rank"] == "deterministic"}
    for name in ("f1", "em", "rouge_1", "rouge_l"):
        assert fixed[name]["value"] == pytest.approx(METRICS[name].score("the cat sat", ["the cat sat down"])), name
        assert fixed[name]["is_utility"] == (name == "f1")
        assert (fixed[name]["low"], fixed[name]["high"], fixed[name]["error"]) == (None, None, 0.0)
    jumbled = METRICS["rouge_l"].score(texts[2], ["the cat sat down"])
    assert jumbled < METRICS["rouge_1"].score(texts[2], ["the cat sat down"]) == 1.0
