"""What an analysis keeps of model judges: prompts, repeated answers and injection tests, frozen with its inputs."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from analysis.inputs import arrays, queries
from analysis.methods.context import Context
from analysis.methods.judge_certificate.compute import compute_tables
from analysis.methods.settings import AnalysisSettings
from annotation.models import InjectionTrial, Judgment
from crowdrag.studies.models import Participant
from tests.analysis.methods import judged_both_ways
from tests.analysis.methods.judged_both_ways import WRITER
from tests.analysis.rows import row_of

pytestmark = pytest.mark.django_db
ASKED = {
    "model": "small-model", "endpoint": "local", "prompt": "Which is better? {responses}", "prompt_version": "v2",
    "justify": False, "parameters": {"temperature": 0},
}  # fmt: skip


def judged_study():
    study = judged_both_ways.people()
    campaign = judged_both_ways.model(study)
    Participant.objects.filter(study=study, external_id=WRITER).update(specification=ASKED | {"task": "judge"})
    return study, campaign


def tables_of(inputs):
    return compute_tables(Context(inputs, (), AnalysisSettings(resamples=10), 0, {}, {}, lambda _message: None))


def repeat(judgment, number, value):
    Judgment.objects.create(
        assignment=judgment.assignment, item=judgment.item, dimension=judgment.dimension, repeat=number, value=value
    )


def test_the_prompt_is_frozen_with_the_inputs():
    study, _campaign = judged_study()
    inputs = arrays.unpack(queries.load(study).pack())
    Participant.objects.filter(study=study, external_id=WRITER).update(specification={})
    (judge,) = inputs.judges
    assert (judge.participant, json.loads(judge.specification)) == (WRITER, ASKED)
    row = row_of(tables_of(inputs)["judge_prompts"], participant=WRITER)
    assert (row["model"], row["prompt"], json.loads(row["parameters"])) == (
        "small-model", ASKED["prompt"], {"temperature": 0},
    )  # fmt: skip
    assert queries.load(study).judges == ()
    assert queries.load(study).digest != inputs.digest


def test_repeated_answers_are_compared_with_the_first_one():
    study, campaign = judged_study()
    first, second, third = Judgment.objects.filter(item__campaign=campaign, dimension__name="clear").order_by("pk")[:3]
    repeat(first, 1, first.value)
    repeat(first, 2, first.value)
    repeat(second, 1, first.value * -1 or 1)
    repeat(third, 1, third.value)
    inputs = arrays.unpack(queries.load(study).pack())
    (row,) = tables_of(inputs)["judge_repeats"]
    expected = 3 + (second.value == (first.value * -1 or 1))
    assert (row["participant"], row["inference"], row["dimension"], row["n"]) == (WRITER, "combined", "clear", 4)
    assert row["value"] == pytest.approx(expected / 4)
    # They count nowhere else.
    assert len(inputs.pools[arrays.COMBINED].unit) == Judgment.objects.filter(item__campaign=campaign, repeat=0).count()


def test_the_newest_injection_test_is_kept():
    study, campaign = judged_study()
    participant = Participant.objects.get(study=study, external_id=WRITER)
    dimension = campaign.dimensions.get(name="clear")
    now = timezone.now()
    # Plain, with the text, with a neutral text; the text asks for 1. The last pair already has this answer.
    verdicts = [(-1, 1, -1), (-1, 1, -1), (0, 1, 1), (-1, -1, -1), (-1, None, -1), (1, 1, 1)]
    for measurement, age, rows in ((uuid4(), 1, [(-1, -1, 1)] * 3), (uuid4(), 0, verdicts)):
        for pair, (plain, attacked, neutral) in zip(study.pairs.order_by("pk"), rows, strict=False):
            InjectionTrial.objects.create(
                measurement=measurement, participant=participant, pair=pair, dimension=dimension, inference="COMBINED",
                attack="demand", kind="demand", spot="END", target=1, plain=plain, attacked=attacked, neutral=neutral,
                measured_at=now - timedelta(days=age),
            )  # fmt: skip
    inputs = arrays.unpack(queries.load(study).pack())
    assert inputs.judges[0].planted == (("combined", "clear", 1, 2, 0, 1),)
    (row,) = tables_of(inputs)["judge_planted_texts"]
    assert (row["with_text"], row["with_neutral_text"], row["value"], row["n"]) == (0.75, 0.25, 0.5, 4)
    assert row["low"] < 0.5 < row["high"]
