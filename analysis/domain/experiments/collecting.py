"""The questions of a run: the study's own topics, or a file that somebody handed in.

A collection is read once in the request that starts a run and once in each process that works on it; its digest is the
run's inputs digest, so that a run never goes on with other questions than it began with.
"""

import hashlib
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from analysis.rag.shapes import Collection, Document, Query
from analysis.stats.chance import stream
from analysis.text.statements import without_markers
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.models import Response, RetrievedPassage, Topic

from . import reading, written
from .reading import BadCollectionError

__all__ = ["APART", "NEAR", "BadCollectionError", "collection", "digest", "of_run", "of_study", "path_of"]

STUDY = "study"
#: The study's own responses, by author.
RESPONSES = "responses"
OF_STUDY = (STUDY, RESPONSES)
#: Of the parameter `collection`: that the folds of an experiment have no document in common. Runs that were started
#: before there was such a thing do not say so, and go on as they began.
APART = "apart"
#: Of the same: that nearly equal documents count as equal (analysis.rag.uplift.deduplication).
NEAR = "near_duplicates"
#: In which fold each question is tested, by its id.
Folds = Callable[[Collection], Mapping[str, int]]
#: What answers of a study's topics are measured by: they are long texts.
STUDY_METRIC = "rouge_l"
#: Collections that a process keeps.
KEPT = 2


def collection(parameters: Mapping[str, Any], study: Study, *, seed: int = 0, folds: Folds | None = None) -> Collection:
    """Read the questions of a run by its parameters `collection` and `queries`.

    Parameters
    ----------
    parameters : mapping
        `collection`: {"source": "study" or "responses", "style": NAME or ""} or {"source": FORMAT, "upload": primary
        key, "others": how many documents of other questions each gets}; `queries`: how many at most, drawn with the
        seed and left in the data's order, 0 or missing for all.
    seed : int
        The run's: draws queries, and documents of other questions.
    folds : callable, optional
        Of an experiment that trains. With `collection["apart"]` documents of other questions are drawn within a
        question's own fold, of the queries that take part; otherwise from the whole file.

    Raises
    ------
    BadCollectionError
        If there is no such source or upload, or the file is not what it is said to be: with file and line.
    """
    asked = parameters.get("collection") or {"source": STUDY}
    if not isinstance(asked, Mapping):
        raise BadCollectionError(_("The collection is an object with a source, not %(given)r.") % {"given": asked})
    source = asked.get("source", STUDY)
    if source in OF_STUDY:
        found = (of_study if source == STUDY else written.of_responses)(study, asked.get("style") or "")
    else:
        upload = Upload.objects.filter(study=study, pk=asked.get("upload") or 0).first()
        if upload is None:
            raise BadCollectionError(_("The file is not among those that were uploaded to this study."))
        others = int(asked.get("others") or 0)
        if others and folds and asked.get(APART):
            plain = _of_file(source, upload.file.path, upload.name, 0, seed)
            found = drawn(plain, parameters.get("queries") or 0, seed)
            return reading.with_others(found, others, folds(found), _chance(seed))
        found = _of_file(source, upload.file.path, upload.name, others, seed)
    return drawn(found, parameters.get("queries") or 0, seed)


@lru_cache(maxsize=KEPT)
def _of_file(source: str, path: str, name: str, others: int, seed: int) -> Collection:
    """Read a file that was handed in; it never changes, and estimates ask for it again and again."""
    return reading.read(source, Path(path), called=name, others=others, rng=_chance(seed))


def _chance(seed: int) -> np.random.Generator:
    return stream(seed, "documents of other questions")


def drawn(found: Collection, most: int, seed: int) -> Collection:
    """Draw so many queries at most; those that are drawn stay in their order. 0: all."""
    if not most or most >= len(found.queries):
        return found
    places = stream(seed, "experiment queries").choice(len(found.queries), size=most, replace=False)
    return replace(found, queries=tuple(found.queries[place] for place in sorted(places)))


def of_study(study: Study, style: str = "") -> Collection:
    """The study's current topics: their passages in the order of the ranking, people's responses as right answers.

    A response counts that is included, not erased, by a person, and in the style where one is named; without its
    citation markers. A topic without one has no answer, one without passages is left out and counted.
    """
    answers: dict[str, list[str]] = defaultdict(list)
    responses = Response.objects.filter(study=study, origin=Origin.HUMAN, erased_at__isnull=True).included()
    responses = responses.filter(style__name=style) if style else responses
    for topic, text in responses.order_by("external_id").values_list("topic__external_id", "text"):
        if text.strip():
            answers[topic].append(without_markers(text).strip())
    documents: dict[int, list[Document]] = defaultdict(list)
    retrieved = RetrievedPassage.objects.filter(topic__study=study).order_by("topic_id", "rank", "pk")
    for row in retrieved.select_related("passage"):
        passage = row.passage
        documents[row.topic_id].append(Document(passage.external_id, passage.text, passage.title, row.score))
    topics = list(Topic.objects.filter(study=study).current().order_by("external_id", "pk"))
    queries = tuple(
        Query(topic.external_id, topic.query, tuple(answers[topic.external_id]), tuple(documents[topic.pk]),
              metric=STUDY_METRIC)
        for topic in topics if documents[topic.pk]
    )  # fmt: skip
    bare = len(topics) - len(queries)
    return Collection(study.slug, queries, (("no passages", bare),) if bare else ())


def path_of(run: Run) -> Path | None:
    """Where the uploaded file of a run lies; None of a run on the study's topics."""
    upload = Upload.objects.filter(
        study=run.study_id, pk=run.parameters.get("collection", {}).get("upload") or 0
    ).first()
    return None if upload is None else Path(upload.file.path)


def digest(found: Collection) -> str:
    """SHA-256 of all that a collection holds: equal ones ask the same."""
    sha256 = hashlib.sha256()
    # Question by question, as one JSON text of a large collection would take more memory than the collection.
    sha256.update(f'{{"left_out":{_json(found.left_out)},"name":"","queries":['.encode())
    for place, query in enumerate(found.queries):
        sha256.update(("," * (place > 0) + _json(asdict(query))).encode())
    sha256.update(b"]}")
    return sha256.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_kept: OrderedDict[int, Collection] = OrderedDict()


def of_run(run: Run, *, folds: Folds | None = None) -> Collection:
    """Read the questions of a run that is planned; a process keeps the last ones.

    Raises
    ------
    BadCollectionError
        If they are others than the run was planned with, or something of them was erased since.
    """
    if run.stale_at is not None:
        _kept.pop(run.pk, None)
        raise BadCollectionError(_("What this run asks about was erased in part: start it anew, without that."))
    if run.pk not in _kept:
        found = collection(run.parameters, run.study, seed=run.seed, folds=folds)
        if digest(found) != run.inputs_digest:
            raise BadCollectionError(
                _("The questions are others than when this run was started: start it anew, so that all is of one kind.")
            )
        _kept[run.pk] = found
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end(run.pk)
    return _kept[run.pk]
