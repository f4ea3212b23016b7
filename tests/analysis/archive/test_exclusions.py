"""What the published layout leaves out is counted with its reason; consent decides what is released."""

import io
import json
from collections import Counter
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.campaign_types.default_dimensions import NAMES, ensure_pairwise
from annotation.enums import AssignmentState, Inference, Judges
from annotation.imports import crowdrag25
from annotation.models import Assignment, Campaign, Judgment, PlatformSubmission
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Consent, ConsentText, Participant, Study
from tests import factories
from tests.analysis.archive.exported import contents, export, rows
from tests.analysis.whole_study import HOSTILE
from tests.factories import NOW, StudyFactory
from writing.corpus.imports.sources import Member, Source
from writing.editor import codec
from writing.enums import LogSource, Origin, TaskState
from writing.models import LogBatch, Response, WritingLog, WritingTask

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]
MS = 1767268800000  # NOW


@pytest.fixture(scope="module")
def written(shared_rows: None) -> int:
    """One topic; responses of a person with a log, of a model, of a system; a pair of the first two, judged twice."""
    made = StudyFactory()
    topic = factories.TopicFactory(study=made, external_id="t")
    for rank in range(2):
        factories.RetrievedPassageFactory(topic=topic, passage__study=made, rank=rank)
    style = factories.StyleFactory(study=made, name="essay")
    person = factories.ParticipantFactory(study=made, external_id="writer")
    task = WritingTask.objects.create(study=made, external_id="task", topic=topic, style=style, participant=person,
                                      state=TaskState.ACCEPTED, created_at=NOW)  # fmt: skip
    log = WritingLog.objects.create(task=task, source=LogSource.EDITOR, started_at=NOW, created_at=NOW)
    payload = codec.pack([["s", 0, 0, 0, "a"], ["focus", 5], ["s", 7, 1, 0, HOSTILE]])
    LogBatch.objects.create(
        log=log, number=0, first_event=0, event_count=3, codec=codec.CODEC, payload=payload,
        digest=codec.digest(payload), received_at=NOW,
    )  # fmt: skip
    response(made, "human", participant=person, task=task, text="a" + HOSTILE)
    for name, kind in (("model", ParticipantKind.MODEL), ("system", ParticipantKind.SYSTEM)):
        author = factories.ParticipantFactory(study=made, kind=kind)
        response(made, name, origin=Origin(kind.value), participant=author)
    judged(made, factories.CampaignFactory(study=made, name="c"), people=2)
    return made.pk


@pytest.fixture
def study(written: int, db: None) -> Study:
    return Study.objects.get(pk=written)


def response(study: Study, name: str, **given: Any) -> Response:
    topic, style = study.topics.get(version=1), study.styles.get()
    return factories.ResponseFactory(study=study, topic=topic, style=style, external_id=name, **given)


def judged(study: Study, campaign: Campaign, *, people: int = 1, a: str = "human", b: str = "model") -> None:
    dimensions = ensure_pairwise(study=study, now=NOW)
    left, right = study.responses.get(external_id=a), study.responses.get(external_id=b)
    pair = study.pairs.filter(a=left, b=right).first() or factories.PairFactory(a=left, b=right)
    item = factories.ItemFactory(campaign=campaign, pair=pair)
    entry = factories.QuestionnaireItemFactory(
        item=item, questionnaire__external_id=f"{campaign.name}-{a}-{b}", position=4
    )
    kind = ParticipantKind.MODEL if campaign.judges == Judges.MODEL else ParticipantKind.CROWD
    for n in range(people):
        assignment = factories.AssignmentFactory(
            questionnaire=entry.questionnaire, participant__study=study, participant__kind=kind
        )
        for m, dimension in enumerate(dimensions):
            value = (-1, 1)[(n + m) % 2]
            Judgment.objects.create(assignment=assignment, item=item, dimension=dimension, value=value)


def exported(study: Study) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    files = contents(export(study, "crowdrag25"))
    manifest = json.loads(files.pop("manifest.json"))
    assert set(manifest["fields"]) == set(files) == {entry["path"] for entry in manifest["files"]}
    for path, content in files.items():
        names = [field["name"] for field in manifest["fields"][path]["fields"]]
        for row in rows(content):
            assert set(row) <= set(names), path
    return {path.split("/")[1].split(".")[0]: rows(content) for path, content in files.items()}, manifest


def left_out(manifest: dict[str, Any]) -> list[int]:
    """How much is left out, reason by reason."""
    return sorted(each["count"] for each in manifest["left_out"])


def consent(person: Participant, **releases: Any) -> None:
    text, _ = ConsentText.objects.get_or_create(
        study=person.study, name="c", defaults={"text": "c", "text_licence": "CC0-1.0", "created_at": NOW}
    )
    Consent.objects.create(participant=person, text=text, given_at=NOW, **releases)


@pytest.mark.extended
def test_the_states_of_a_text_come_in_their_order_and_a_system_is_named(study: Study) -> None:
    """What the files of the demo study hold is golden: tests/golden."""
    files, manifest = exported(study)
    assert manifest["left_out"] == []
    states = [(row["text"], row["timestamp"]) for row in files["study1_responses_human"]]
    assert states == [("a", MS), ("a" + HOSTILE, MS + 7)]
    system = Participant.objects.get(kind=ParticipantKind.SYSTEM)
    assert [row.get("system") for row in files["study1_responses_llm"]] == [None, system.external_id]
    files, manifest = exported(StudyFactory())
    assert (files, len(manifest["omitted"])) == ({}, 13)


VOTES = len(NAMES)


def of_writer(**releases: Any) -> Callable[[Study], None]:
    """What the writer agreed to, or not."""
    given = {"releases_text": False, "releases_log": False} | releases
    return lambda study: consent(Participant.objects.get(external_id="writer"), **given)


def of_judges(study: Study) -> None:
    """One judge is excluded, and the work of the other not accepted."""
    first, second = study.campaigns.get().questionnaires.get().assignments.order_by("id")
    Assignment.objects.filter(pk=first.pk).update(is_included=False)
    Assignment.objects.filter(pk=second.pk).update(state=AssignmentState.REJECTED)


def of_response(study: Study) -> None:
    study.responses.filter(external_id="model").update(is_included=False)


@pytest.mark.parametrize(
    ("change", "absent", "counts"),
    [
        pytest.param(of_writer(releases_log=True), {"responses_human", "2_responses"}, [1, 2 * VOTES], id="no text"),
        pytest.param(of_writer(releases_text=True), set(), [1], id="no log"),
        pytest.param(of_writer(releases_log=True, withdrawn_at=NOW), {"1_tasks"}, [1, 2 * VOTES], id="withdrew"),
        pytest.param(of_judges, {"2_responses"}, [VOTES, VOTES], id="judges"),
        pytest.param(of_response, {"2_responses"}, [1, 2 * VOTES], id="response"),
    ],
)
def test_what_people_do_not_release_or_does_not_count_is_left_out_with_what_is_about_it(
    study: Study, change, absent, counts
) -> None:
    change(study)
    files, manifest = exported(study)
    assert [name for name in files if name.endswith(tuple(absent))] == []
    assert left_out(manifest) == counts
    if "responses_human" not in absent and "1_tasks" not in absent:
        assert files["study1_responses_human"][-1]["text"] == "a" + HOSTILE  # with the steps to it, or without


def test_a_judge_who_withdrew_and_one_whose_timing_stays(study: Study) -> None:
    gone, stays = [each.participant for each in study.campaigns.get().questionnaires.get().assignments.order_by("id")]
    for n, person in enumerate((gone, stays)):
        PlatformSubmission.objects.create(campaign=study.campaigns.get(), external_id=f"s{n}", participant=person)
    consent(gone, withdrawn_at=NOW, releases_timing=True)
    consent(stays, releases_timing=False)
    files, manifest = exported(study)
    assert [vote["worker"] for vote in files["study2_responses"]] == [stays.external_id]
    assert "study2_demographic" not in files
    assert left_out(manifest) == [2, VOTES]


def test_older_versions_and_gaps(study: Study) -> None:
    factories.TopicFactory(study=study, external_id="t", version=2)
    gap = factories.TopicFactory(study=study, external_id="gap")
    for rank in (0, 2):
        factories.RetrievedPassageFactory(topic=gap, passage__study=study, rank=rank)
    files, manifest = exported(study)
    assert [(row["topic"], row["references_ids"]) for row in files["study1_retrieval"]] == [("t", [])]
    assert {1, 1 + 3} <= set(left_out(manifest))  # the gap; the older version and its three responses


def test_an_answer_that_lacks_a_dimension_is_there_without_it(study: Study) -> None:
    Judgment.objects.filter(dimension__name="coverage_deep").order_by("id").last().delete()  # type: ignore[union-attr]
    files, manifest = exported(study)
    assert [vote["coverage_deep"] for vote in files["study2_responses"]] == ["A", None]
    assert manifest["left_out"] == []


def asked_of_model(study: Study, name: str, inference: Inference, *sides: str) -> Campaign:
    campaign = factories.CampaignFactory(study=study, name=name, judges=Judges.MODEL, inference=inference, k=1)
    judged(study, campaign, a=sides[0], b=sides[1])
    return campaign


def test_each_model_that_judged_is_named(study: Study) -> None:
    made = [asked_of_model(study, name, Inference.COMBINED, "human", "model") for name in ("first", "second")]
    models = [campaign.questionnaires.get().assignments.get().participant.external_id for campaign in made]
    files, manifest = exported(study)
    assert [row["model"] for row in files["llm_ratings_combined"]] == models
    assert [row["model"] for row in files["llm_ratings"]] == models
    assert (files["llm_ratings"][0]["inference"], files["llm_ratings"][0]["quality_overall"]) == ("combined", "a")
    assert manifest["left_out"] == []


def everything_of(study: Study) -> None:
    """Add what the layout has only with our extensions, and what it cannot hold."""
    for name, inference in (("all at once", Inference.COMBINED), ("one by one", Inference.INDIVIDUAL)):
        campaign = asked_of_model(study, name, inference, "model", "system")
        Judgment.objects.filter(item__campaign=campaign).update(justification="because")
    judged(study, study.campaigns.get(name="c"), a="human", b="system")
    assignment = study.campaigns.get(name="c").questionnaires.get(external_id="c-human-system").assignments.get()
    item = assignment.questionnaire.entries.get().item
    humour = factories.DimensionFactory(study=study, name="humour")
    Judgment.objects.create(assignment=assignment, item=item, dimension=humour, value=1)


def test_no_judgment_and_no_response_is_lost_in_silence(study: Study) -> None:
    everything_of(study)
    files, manifest = exported(study)
    assert left_out(manifest) == [1]  # a judgment on a dimension that the layout does not have
    other = StudyFactory()
    packed = contents(export(study, "crowdrag25"))
    members = [Member(name, len(data), lambda data=data: io.BytesIO(data)) for name, data in packed.items()]
    summary = crowdrag25.import_corpus(study=other, source=Source(members), now=NOW, strict=True).summary
    assert (summary["set_aside"], summary["incomplete"]) == ({}, {})
    assert counted_by(other) == counted_by(study) - Counter({("CROWD", "", "humour"): 1})
    assert set(other.responses.values_list("external_id", "origin", "text")) == set(
        study.responses.values_list("external_id", "origin", "text")
    )
    assert set(other.responses.exclude(origin=Origin.HUMAN).values_list("participant__external_id")) == set(
        study.responses.exclude(origin=Origin.HUMAN).values_list("participant__external_id")
    )
    assert Judgment.objects.of_study(other).filter(justification="because").count() == 2 * len(NAMES)
    again, _ = exported(other)
    # The study's responses were made without statements; the import takes them apart.
    assert again | {"responses": None} == files | {"responses": None}


def counted_by(study: Study) -> Counter[tuple[str, ...]]:
    columns = ("item__campaign__judges", "item__campaign__inference", "dimension__name")
    return Counter(Judgment.objects.of_study(study).values_list(*columns))


def test_the_command_ends_with_what_was_left_out(study: Study, tmp_path: Path) -> None:
    everything_of(study)
    out = StringIO()
    call_command("export", study.slug, "--format", "crowdrag25", "--out", str(tmp_path / "f.zip"), stdout=out)
    ((what, count),) = study.runs.get().summary["left_out"].items()
    assert count == 1
    assert f"1 {what}" in out.getvalue().splitlines()[-1]
