"""Fair RAG by the metrics of personalisation: ratings that are none, and all metrics of a task at once."""

import json
from pathlib import Path

import pytest

from analysis.domain.experiments import starting
from analysis.domain.experiments.experiment import get
from analysis.domain.experiments.fair import taking
from analysis.rag.shapes import Output
from crowdrag.runs.domain import running, uploads
from tests.analysis.rag.fair.planted import Planted, said
from tests.factories import StudyFactory
from tests.llm.conftest import endpoint, server  # noqa: F401 - fixtures

from .test_fair import SMALL, _line, planted, rows  # noqa: F401 - a fixture among them

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("planted")]

#: What the first document of a list has the generator answer; without documents it says nothing that is a rating.
RATINGS = ("4", "2017", "3", "1 of 5", "5")


@pytest.fixture
def asked(tmp_path: Path, endpoint, monkeypatch):  # noqa: F811
    """Make an order on questions with these right answers, to which the generator says what its first document says."""
    study = StudyFactory()
    monkeypatch.setattr(
        Planted, "_answer", lambda _self, content: Output((said(content) or ["2017 was great"])[0], prompt_tokens=9)
    )

    def _order(gold: dict[str, str], *, words=RATINGS, metric="mae", **given):
        lines = [_line(name, words, right) | {"metric": metric} for name, right in gold.items()]
        path = tmp_path / "planted.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        upload = uploads.store(study=study, source=path)
        parameters = {"generator": f"endpoint:{endpoint.name}", "collection": {"source": "qa", "upload": upload.pk}}
        return starting.order(get("fair"), study, parameters | SMALL | {"entailment": ""} | given)

    return _order


def test_a_number_beyond_the_scale_is_no_rating_and_is_counted(asked) -> None:
    found = rows(running.wait(starting.start(asked({"q0": "3", "q1": "1"}))))
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
    assert starting.expect(order).estimate.queries == 1
    found = rows(running.wait(starting.start(order)))
    assert found["fair_left_out"][1] == {"reason": taking.NO_SCORE, "queries": 2, "named": "q1, q2"}
    assert all("in q0?" in prompt.messages[-1].content for prompt in planted.seen)
