"""What else is erased with a text: what was made of it elsewhere, and what must stay."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from analysis.inputs import arrays
from analysis.models import Snapshot
from annotation.models import Judgment
from crowdrag.jobs import erasure as runs
from crowdrag.jobs import run_files
from crowdrag.jobs.models import Run, Unit, Upload
from crowdrag.llm.models import Call, Endpoint
from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import withdrawal
from tests.analysis import small_study
from tests.factories import (
    AssignmentFactory,
    ItemFactory,
    JudgmentFactory,
    PairFactory,
    QuestionnaireItemFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StudyFactory,
)
from writing.corpus.imports import corpus_importers, importers
from writing.models import Response

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files")]
NOW = timezone.now()
COPIED = "The tide comes in twice a day and goes out twice a day, says the passage."
TEXT = f"What I have never seen written anywhere is this first one [0]. {COPIED} This is how it ends, nobody knows [1]."


def erase(person: Participant) -> None:
    withdrawal.erase(participant=person, now=NOW + timedelta(hours=1))


def written() -> Response:
    response: Response = ResponseFactory(text=TEXT)
    RetrievedPassageFactory(topic=response.topic, passage__text=f"First. {COPIED} Last.", rank=0)
    return response


def test_calls_with_a_part_of_a_text_go_and_those_with_what_was_copied_stay() -> None:
    asked = {
        TEXT: True,
        TEXT.replace(" [0]", "").replace(" [1]", ""): True,
        "True? What I have never seen written anywhere is this first one": True,
        "A planted line.\n\nThis is how it ends, nobody knows.": False,  # too short to be anybody's
        f"Answer from this: First. {COPIED} Last.": False,
        "What somebody else wrote about the tide and the sea, at some length.": False,
    }
    there = Endpoint.objects.create(
        name="m", base_url="http://127.0.0.1:1/v1", model="m", is_local=True, created_at=NOW
    )
    for number, text in enumerate(asked):
        Call.objects.create(digest=f"{number:064x}", endpoint=there, model="m", purpose="p", created_at=NOW,
                            request={"messages": [{"content": text}]})  # fmt: skip
    erase(written().participant)
    calls = Call.objects.order_by("digest").values_list("erased_at", "request")
    assert [(at is not None, request is None) for at, request in calls] == [(goes, goes) for goes in asked.values()]


def test_words_of_others_go_where_they_quote_and_their_answers_stay() -> None:
    response = written()
    other = ResponseFactory(topic=response.topic)
    entry = QuestionnaireItemFactory(item=ItemFactory(pair=PairFactory(a=other, b=response), topic=response.topic))
    own = "What I have never seen is a text as dull as that."
    given = {}
    for said, left in (
        ("A is better: “what I have never seen written anywhere” is new.", ""),
        ("It says WHAT I HAVE\nNEVER SEEN, written, and so on.", ""),
        (own, own),
    ):
        assignment = AssignmentFactory(questionnaire=entry.questionnaire, comment=said)
        given[JudgmentFactory(entry=entry, justification=said, assignment=assignment)] = left
    erase(response.participant)
    for before, left in given.items():
        judgment = Judgment.objects.select_related("assignment").get(pk=before.pk)
        assert (judgment.justification, judgment.assignment.comment, judgment.value) == (left, left, before.value)


def test_a_snapshot_names_nobody_who_is_gone_and_keeps_their_votes() -> None:
    study = small_study.make()
    run = small_study.analyse(study)
    before = arrays.unpack(bytes(Snapshot.objects.get(run=run).payload))
    for name in ("w1", "w2"):
        erase(Participant.objects.get(study=study, external_id=name))
    left = arrays.unpack(bytes(Snapshot.objects.get(run=run).payload))
    named = dict(zip(before.main.participants, left.main.participants, strict=True))
    assert (named.pop("w1"), named.pop("w2")) == ("erased-1", "erased-2")
    assert all(name == kept for name, kept in named.items())
    assert left.main.coder.tolist() == before.main.coder.tolist()
    assert left.main.value.tolist() == before.main.value.tolist()


def handed_in(study: Study, importer: importers.Importer, **fields: Any) -> tuple[Run, Upload]:
    """A file, and the import that it was handed in for."""
    file = run_files.store_upload(study=study, source=ContentFile(b"{}", name="lines.jsonl"), now=NOW)
    common = {"state": "FAILED", "finished_at": NOW, "code_version": "1", "created_at": NOW} | fields
    given = {"inputs": [{"role": "file", "upload": file.pk}]}
    return Run.objects.create(study=study, kind=importer.kind, parameters=given, **common), file


def test_files_of_imports_go_but_for_those_that_hold_nothing_of_people(
    settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    person = ResponseFactory().participant
    handed_in(person.study, corpus_importers.RESPONSES)
    at_work, _file = handed_in(person.study, corpus_importers.RESPONSES, state="PLANNED", finished_at=None)
    _run, topics = handed_in(person.study, corpus_importers.TOPICS)
    _elsewhere, others = handed_in(StudyFactory(), corpus_importers.RESPONSES)
    with django_capture_on_commit_callbacks(execute=True):
        erase(person)
    assert set(Upload.objects.values_list("pk", flat=True)) == {topics.pk, others.pk}
    assert len([path for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()]) == 2
    at_work.refresh_from_db()
    assert at_work.state == "CANCELLED"


def test_why_a_run_failed_is_no_longer_told_in_its_words() -> None:
    person = ResponseFactory().participant
    run, _file = handed_in(
        person.study, corpus_importers.TOPICS, error="got 'words'", problems=[{"message": "got 'words'"}]
    )
    unit = Unit.objects.create(
        run=run, position=0, state="FAILED", due_at=NOW, finished_at=NOW, error="words", message="words"
    )
    done, _file = handed_in(person.study, corpus_importers.TOPICS, state="DONE")
    erase(person)
    for row in (run, unit, done):
        row.refresh_from_db()
    assert (run.state, run.error, run.problems) == ("FAILED", runs.REMOVED_WORDS, [])
    assert (unit.error, unit.message) == (runs.REMOVED_WORDS, "")
    assert (done.state, done.error) == ("DONE", "")
