"""A judge trained on the study's judgments: what it learns, what is stored, and that it has not seen the topic."""

from itertools import combinations

import numpy as np
from django.urls import reverse

from analysis.inputs import queries as inputs_queries
from annotation.enums import Judges
from annotation.llm_judges import queries, trained_judge
from annotation.models import Campaign, Judgment
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import Participant, Study
from tests.analysis import small_study
from tests.annotation.shared import made_once, signed_in
from tests.api.conftest import by_token
from tests.factories import (
    MembershipFactory,
    ParticipantFactory,
    ResponseFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.enums import Origin

TOPICS, LENGTHS = 10, {"a": 12, "b": 6, "c": 2}


def build() -> Study:
    study, style, rng = StudyFactory(), None, np.random.default_rng(0)
    style = StyleFactory(study=study)
    systems = {letter: ParticipantFactory(study=study, kind=ParticipantKind.SYSTEM) for letter in LENGTHS}
    for number in range(TOPICS):
        topic = TopicFactory(study=study, external_id=f"t{number}")
        for letter, sentences in LENGTHS.items():
            text = " ".join(f"Sentence {rng.integers(1000)} says something [0]." for _ in range(sentences))
            ResponseFactory(
                topic=topic, style=style, origin=Origin.SYSTEM, participant=systems[letter], text=text,
                external_id=f"t{number}-{letter}",
            )  # fmt: skip
    # The longer response wins four votes of five; sides alternate.
    votes = {}
    for number in range(TOPICS):
        for one, two in combinations(LENGTHS, 2):
            first, second = (one, two) if number % 2 else (two, one)
            votes[f"t{number}-{first}", f"t{number}-{second}"] = ("AAAAB" if first == one else "BBBBA",)
    small_study.campaign(study, votes, names=[f"w{n}" for n in range(5)], dimensions=["clear"])
    return study


stored, study = made_once(build)


def source(study: Study) -> Campaign:
    return Campaign.objects.get(study=study, judges=Judges.CROWD)


def trained(study: Study):
    return lifecycle.wait(trained_judge.start(study=study, source=source(study)))


def test_longer_responses_win_as_people_wanted(study):
    run = trained(study)
    assert run.state == RunState.DONE
    judgments = Judgment.objects.filter(item__campaign__judges=Judges.MODEL)
    assert judgments.count() == run.summary["judgments"] == TOPICS * 3
    right = [
        (value == -1) == (LENGTHS[a[-1]] > LENGTHS[b[-1]])
        for a, b, value in judgments.values_list("item__pair__a__external_id", "item__pair__b__external_id", "value")
    ]
    assert np.mean(right) > 0.9


def test_specification_holds_all_that_repeats_the_labels(study):
    trained(study)
    judge = Participant.objects.get(study=study, kind=ParticipantKind.MODEL)
    (row,) = queries.judges(study)
    assert row.is_trained
    told = judge.specification["parameters"]["dimensions"]["clear"]
    assert told["log_loss"] < told["log_loss_without_features"]
    assert told["judgments"] == TOPICS * 3 * 5
    # The same judgments make the same judge, and nothing is stored twice.
    trained(study)
    assert Judgment.objects.filter(item__campaign__judges=Judges.MODEL).count() == TOPICS * 3


def test_labels_are_a_model_judges_and_no_persons(study):
    trained(study)
    inputs = inputs_queries.load(study)
    assert set(inputs.pools) == {"crowd", "model_individual"}
    assert len(inputs.pools["crowd"].participants) == 5


def test_few_topics_are_refused(study):
    Judgment.objects.exclude(item__topic__external_id__in=["t0", "t1"]).delete()
    run = trained(study)
    assert run.state == RunState.FAILED
    assert run.problems


def test_page_and_api_start_it(study):
    client = signed_in(study)
    url = reverse("model_judges_train", args=[study.slug])
    assert client.get(url).status_code == 200
    assert client.post(url, {"source": ""}).status_code == 422
    answer = client.post(url, {"source": source(study).pk})
    run = study.runs.get(kind=trained_judge.KIND)
    assert answer.url == reverse("run", args=[study.slug, run.key])
    assert signed_in(study, Role.VIEWER).get(url).status_code == 403
    script = by_token(MembershipFactory(study=study, role=Role.EDITOR).user)
    api = reverse("api_model_judges_train", args=[study.slug])
    assert script.post(api, {"campaign": source(study).pk}, format="json").status_code == 202
    assert script.post(api, {"campaign": 10**9}, format="json").status_code == 404
    lifecycle.wait(run)
    assert "trained-judge/" in client.get(reverse("model_judges", args=[study.slug])).content.decode()
