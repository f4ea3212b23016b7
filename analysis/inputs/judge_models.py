"""Language models as judges: prompts, repeated answers, and injection tests of those whose judgments are analysed."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping

from annotation.enums import Judges
from annotation.llm_judges.injection_results import successes
from annotation.models import Assignment, InjectionTrial, Judgment
from crowdrag.studies.models import Participant, Study

from .arrays import JudgeModel

#: What of a model's specification decides its answers, or says how it was asked.
SPECIFICATION = ("model", "endpoint", "prompt", "prompt_version", "justify", "parameters")
Repeats = tuple[tuple[str, str, int, int, int], ...]
Planted = tuple[tuple[str, str, int, int, int, int], ...]


def load(study: Study, names: set[str], topics: Mapping[str, int]) -> tuple[JudgeModel, ...]:
    """Return the models with these names that have a specification or checks, sorted by name."""
    if not names:
        return ()
    models = Participant.objects.filter(study=study, external_id__in=names).order_by("external_id")
    repeats, planted = _repeats(study, topics), _planted(study)
    judges = []
    for model in models:
        kept = {key: model.specification[key] for key in SPECIFICATION if key in (model.specification or {})}
        judge = JudgeModel(
            model.external_id,
            json.dumps(kept, ensure_ascii=False, sort_keys=True),
            repeats.get(model.external_id, ()),
            planted.get(model.external_id, ()),
        )
        if kept or judge.repeats or judge.planted:
            judges.append(judge)
    return tuple(judges)


def _repeats(study: Study, topics: Mapping[str, int]) -> dict[str, Repeats]:
    """Return how often repeated answers equal the first one, by model."""
    judgments = Judgment.objects.filter(
        item__campaign__study=study, item__campaign__judges=Judges.MODEL, assignment__in=Assignment.objects.counted()
    )
    repeated = judgments.filter(repeat__gt=0)
    answered = judgments.filter(repeat=0, item__in=repeated.values("item"))
    first = {
        (assignment, item, dimension): value
        for assignment, item, dimension, value in answered.values_list("assignment", "item", "dimension", "value")
    }
    counts: dict[str, Counter[tuple[str, str, int, bool]]] = defaultdict(Counter)
    columns = ("assignment__participant__external_id", "assignment", "item", "dimension", "dimension__name", "value",
               "item__topic__external_id", "item__campaign__inference")  # fmt: skip
    for name, assignment, item, dimension, label, value, topic, inference in repeated.values_list(*columns):
        if (key := (assignment, item, dimension)) in first and topic in topics:
            counts[name][inference.lower(), label, topics[topic], value == first[key]] += 1
    result = {}
    for name, counted in counts.items():
        cells = sorted({cell[:3] for cell in counted})
        result[name] = tuple(
            (*cell, counted[*cell, True], counted[*cell, True] + counted[*cell, False]) for cell in cells
        )
    return result


def _planted(study: Study) -> dict[str, Planted]:
    """Return the results of the newest injection test of each model, prompt type and dimension."""
    newest: dict[tuple[str, str, str], list[InjectionTrial]] = {}
    trials = InjectionTrial.objects.filter(participant__study=study).select_related("participant", "dimension")
    for trial in trials.order_by("-measured_at", "-measurement", "pk"):
        key = trial.participant.external_id, trial.inference.lower(), trial.dimension.name
        of_test = newest.setdefault(key, [])
        if not of_test or of_test[0].measurement == trial.measurement:
            of_test.append(trial)
    result: dict[str, Planted] = {}
    for (name, inference, dimension), of_test in sorted(newest.items(), key=lambda one: one[0]):
        counted = Counter(successes((t.plain, t.attacked, t.neutral, t.target) for t in of_test))
        cells = [counted[won, other] for won in (True, False) for other in (True, False)]
        both, only_attacked, only_neutral, neither = cells
        result[name] = (*result.get(name, ()), (inference, dimension, both, only_attacked, only_neutral, neither))
    return result
