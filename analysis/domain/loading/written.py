"""The responses that count, the passages that their authors had, and what they answered before and after writing."""

from dataclasses import dataclass

from django.db.models import Q

from crowdrag.studies.models import Study
from writing.models import Response, RetrievedPassage, SurveyAnswers

from .. import inputs
from ..texts import Digest

#: Rows that are held at a time; they are short.
CHUNK = 5_000


@dataclass(frozen=True)
class Written:
    """Responses in the order of their names, and what they rest on; see `inputs.Inputs`."""

    responses: tuple[inputs.Response, ...]
    passages: tuple[str, ...]
    rankings: tuple[tuple[int, ...], ...]
    answers: tuple[inputs.Answer, ...]


def load(study: Study) -> Written:
    """Read all responses of a study that count."""
    shown, passages = _shown(study)
    rankings = sorted(set(shown.values()))
    place = {ranking: i for i, ranking in enumerate(rankings)}
    responses, keys = _responses(study, {topic: place[ranking] for topic, ranking in shown.items()})
    return Written(responses, passages, tuple(rankings), _answers(study, keys))


def _shown(study: Study) -> tuple[dict[int, tuple[int, ...]], tuple[str, ...]]:
    """The passages of each topic version that was written on, as places in a list of digests; -1 at a missing rank."""
    rows = RetrievedPassage.objects.filter(topic__in=Response.objects.filter(study=study).included().values("topic"))
    found: dict[int, list[str]] = {}
    columns = ("topic_id", "rank", Digest("passage__text"))
    for topic, rank, text in rows.order_by("topic_id", "rank").values_list(*columns).iterator(chunk_size=CHUNK):
        ranking = found.setdefault(topic, [])
        ranking += [""] * (rank - len(ranking)) + [text]
    passages = sorted({name for ranking in found.values() for name in ranking} - {""})
    place = {name: i for i, name in enumerate(passages)} | {"": -1}
    return {topic: tuple(place[name] for name in ranking) for topic, ranking in found.items()}, tuple(passages)


def _responses(study: Study, ranking: dict[int, int]) -> tuple[tuple[inputs.Response, ...], dict[int, int]]:
    """The responses, and the place of each by the row id of its task."""
    columns = ("external_id", "topic__external_id", "style__name", "origin", "participant__external_id", "words",
               Digest("text"), "topic_id", "task_id")  # fmt: skip
    rows = Response.objects.filter(study=study).included().values_list(*columns).iterator(chunk_size=CHUNK)
    found = sorted(
        (
            (inputs.Response(name, topic, style, origin.lower(), participant, words, text,
                             ranking.get(version, -1)), task)
            for name, topic, style, origin, participant, words, text, version, task in rows
        ),
        key=lambda each: each[0].name,
    )  # fmt: skip
    return tuple(response for response, _ in found), {task: i for i, (_, task) in enumerate(found) if task is not None}


def _answers(study: Study, place: dict[int, int]) -> tuple[inputs.Answer, ...]:
    """Answers that are numbers, of the tasks whose responses count. Words that people wrote are not analysed."""
    rows = SurveyAnswers.objects.filter(Q(task__study=study) & Q(task__response__is_included=True))
    found = set()
    for task, kind, answers in rows.values_list("task_id", "survey__kind", "answers").iterator(chunk_size=CHUNK):
        for question, value in answers.items():
            if task in place and isinstance(value, int | float) and not isinstance(value, bool):
                found.add(inputs.Answer(place[task], kind.lower(), question, float(value)))
    return tuple(sorted(found, key=lambda answer: (answer.response, answer.kind, answer.question, answer.value)))
