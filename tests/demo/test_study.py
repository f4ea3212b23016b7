"""The demo study is set up by one call, as often as one likes, and its long work ends in results."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from django.test import Client

from analysis.models import ResultTable
from annotation.models import Campaign, Dimension, Item, Judgment
from crowdrag.demo import judges, setup, simulated_judgments
from crowdrag.jobs import lifecycle
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from tests.demo.demo_runs import demo_in, finish_runs
from tests.factories import NOW, ParticipantFactory, ResponseFactory
from writing.enums import Origin
from writing.llm_writers import writer as llm_writers_writer

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def finished(shared_rows: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[setup.Demo]:
    """Set up the demo once, and do its long work without a model."""
    with demo_in(tmp_path_factory.mktemp("demo")) as demo:
        finish_runs(demo.study)
        yield demo


@pytest.fixture
def study(finished: setup.Demo, db: None) -> Study:
    return Study.objects.get(pk=finished.study.pk)


def counts(study: Study) -> dict[str, int]:
    return {
        "topics": study.topics.count(),
        "passages": study.passages.count(),
        "human": study.responses.filter(origin=Origin.HUMAN).included().count(),
        "system": study.responses.filter(origin=Origin.SYSTEM).count(),
        "judgments": Judgment.objects.of_study(study).count(),
        "runs": study.runs.count(),
    }


def judged_in_waves(study: Study) -> set[tuple[int, int]]:
    items = Item.objects.filter(campaign__in=study.campaigns.exclude(name=judges.NAME))
    return set(items.values_list("pair__a", "pair__b"))


@pytest.mark.extended
def test_the_demo_is_set_up_judged_and_analysed_without_a_model(finished: setup.Demo, study: Study) -> None:
    found = counts(study)
    assert found | {"judgments": 0, "runs": 0} == {
        "topics": 5, "passages": 100, "human": 8, "system": 10, "judgments": 0, "runs": 0,
    }  # fmt: skip
    campaign = Campaign.objects.get(study=study, name=simulated_judgments.NAME)
    assert campaign.is_simulated
    judged = Judgment.objects.filter(item__campaign=campaign).count()
    assert judged == 7 * 5 * sum(q.entries.count() for q in campaign.questionnaires.all())
    # Of each topic every pair, whatever people were asked to judge beside it.
    topics, _expected = simulated_judgments.responses(study)
    every = {frozenset(pair) for group in topics.values() for pair in combinations(group, 2)}
    shown = campaign.items.values_list("pair__a__external_id", "pair__b__external_id")
    assert {frozenset(pair) for pair in shown} == every
    assert all(person.is_simulated for person in study.participants.filter(kind="CROWD"))
    tables = set(ResultTable.objects.filter(run__study=study).values_list("name", flat=True))
    assert tables >= {"agreement", "competence", "gold", "grades", "grade_means", "key_figures"}

    again = setup.set_up(now=NOW)
    finish_runs(again.study)
    assert counts(again.study) == found
    assert again.password == finished.password


@pytest.mark.extended
def test_what_people_judge_does_not_count_before_somebody_decides(study: Study) -> None:
    assert not Judgment.objects.pool().filter(item__campaign=judges.campaign_of(study)).exists()
    assert Campaign.objects.get(study=study, name=simulated_judgments.NAME).campaign_dimensions.count() == 7
    asked = [campaign.campaign_dimensions.values_list("dimension", flat=True) for campaign in study.campaigns.all()]
    # The same questions in the same version: what is judged here can be pooled with what the crowd judged.
    assert {frozenset(each) for each in asked} == {frozenset(asked[0])}
    assert not Dimension.objects.filter(study=study, version__gt=1).exists()


@pytest.mark.extended
def test_what_the_model_wrote_is_judged_in_a_second_wave(study: Study) -> None:
    judged = judged_in_waves(study)
    topic, style = study.topics.order_by("id")[0], study.styles.get(name="news")
    writer = ParticipantFactory(study=study, kind=ParticipantKind.MODEL)
    new = ResponseFactory(topic=topic, style=style, participant=writer, origin=Origin.MODEL)
    lifecycle.start(study=study, kind="demo.judge", now=NOW)
    finish_runs(study)
    added = judged_in_waves(study) - judged
    assert added
    assert all(new.pk in pair for pair in added)
    waves = study.campaigns.exclude(name=judges.NAME).order_by("id")
    assert list(waves.values_list("name", flat=True)) == [simulated_judgments.NAME, simulated_judgments.SECOND_NAME]
    lifecycle.start(study=study, kind="demo.judge", now=NOW)  # nothing is new: nothing is added
    finish_runs(study)
    assert study.campaigns.count() == 3


@pytest.mark.extended
def test_the_login_that_is_printed_opens_the_study(finished: setup.Demo, study: Study) -> None:
    client = Client()
    client.post("/login/", {"username": finished.email, "password": finished.password})
    page = client.get("/studies/demo/")
    assert page.status_code == 200
    kept = setup.settings.DATA_DIR / "demo-password"
    assert kept.stat().st_mode & 0o077 == 0


def test_the_schema_bounds_citations_and_length() -> None:
    schema = llm_writers_writer.answer_schema(passages=3, words=250)["properties"]["statements"]
    assert schema["items"]["properties"]["citations"]["items"]["enum"] == [0, 1, 2]
    assert (schema["minItems"], schema["maxItems"]) == (4, 8)
