"""What an uplift run asks goes out together, and what comes of it is what comes of asking one after the other."""

import json

import pytest

torch = pytest.importorskip("torch", reason="the extra `neural` is not installed")

from analysis.domain.experiments import starting  # noqa: E402
from analysis.domain.experiments.uplift import working  # noqa: E402
from analysis.models import Finding  # noqa: E402
from crowdrag.runs.domain import running  # noqa: E402
from crowdrag.runs.models import Run, Unit  # noqa: E402
from tests.llm.conftest import endpoint, server  # noqa: E402, F401 - fixtures

from .test_uplift import FEW, asked, encoder, generator, rows  # noqa: E402, F401 - fixtures

pytestmark = pytest.mark.django_db

ASKED = {"methods": ["naive", "replug", "skr", "adaptive"], "other": "endpoint:odd", "ablations": ["without_selection"]}


@pytest.fixture
def waves(generator, monkeypatch) -> list[int]:  # noqa: F811
    """How many prompts the generator was handed in each call."""
    seen: list[int] = []
    generate = generator.generate
    monkeypatch.setattr(generator, "generate", lambda prompts: seen.append(len(prompts)) or generate(prompts))
    return seen


def found(run: Run) -> str:
    return json.dumps(
        [[key, data] for key, data in Finding.objects.filter(run=run).order_by("key").values_list("key", "data")],
        sort_keys=True,
    )


def test_what_many_questions_and_methods_ask_goes_out_together(asked, waves, monkeypatch) -> None:  # noqa: F811
    run = running.wait(starting.start(asked(**ASKED)))
    together, calls = rows(run), len(waves)
    assert max(waves) >= 5 * 6  # of five questions or more, with five documents each
    # Labels by two models, SKR's training, Adaptive-RAG's steps, answers by two models; each for two splits.
    assert calls <= 2 * (2 + 1 + 5 + 5 + 1)

    # As runs were planned before: a unit a question, and one prompt after the other.
    waves.clear()
    one_by_one = working.together
    monkeypatch.setattr(
        working, "together", lambda askings, model, **_: [one_by_one([each], model)[0] for each in askings]
    )
    alone = starting.start(asked(**ASKED))
    for unit in Unit.objects.filter(run=alone, payload__has_key="queries"):
        _alone(unit)
    alone = running.wait(alone)
    assert rows(alone) == together
    assert found(alone) == found(run)
    assert len(waves) > 3 * calls
    assert Unit.objects.filter(run=alone, payload__stage="label").count() == FEW - 1


def _alone(unit: Unit) -> None:
    """Give each question of a unit a unit of its own."""
    about = unit.payload
    for place, name in enumerate(about["queries"]):
        unit.pk = unit.pk if not place else None
        last = Unit.objects.filter(run=unit.run).order_by("-position").values_list("position", flat=True)[0]
        unit.position = unit.position if not place else last + 1
        unit.payload = about | {"queries": [name]}
        unit.save()
