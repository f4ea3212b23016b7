"""Sample data in a study of one's own."""

import pytest
from django.test import Client
from django.urls import reverse

from analysis.analyses import services as analyses_services
from annotation.campaign_types import default_dimensions
from annotation.models import Dimension
from crowdrag.demo import sample
from crowdrag.jobs.enums import RunState
from crowdrag.studies.enums import Role
from tests.demo.demo_runs import finish_runs
from tests.factories import NOW, MembershipFactory, TopicFactory
from writing.models import Topic

pytestmark = pytest.mark.django_db


def test_sample_data_comes_once_is_marked_and_ends_in_an_analysis(settings, monkeypatch) -> None:
    member = MembershipFactory(role=Role.EDITOR)
    study = member.study
    started: list[str] = []
    monkeypatch.setattr(analyses_services, "start", lambda **order: started.append(order["study"].slug))
    run = sample.start(study=study, by=member.user, now=NOW)
    assert sample.start(study=study, by=member.user, now=NOW) == run
    finish_runs(study)
    study.refresh_from_db()
    assert study.is_simulated
    assert started == [study.slug]
    counts = (study.topics.count(), study.responses.count(), study.campaigns.filter(is_simulated=True).count())
    assert counts == (5, 18, 1)
    assert sample.start(study=study, by=member.user, now=NOW) == run


def test_a_study_in_another_language_asks_the_questions_in_it(monkeypatch) -> None:
    member = MembershipFactory(role=Role.EDITOR, study__language="de")
    monkeypatch.setattr(analyses_services, "start", lambda **order: None)
    sample.start(study=member.study, by=member.user, now=NOW)
    finish_runs(member.study)
    usual = default_dimensions.ensure_pairwise(study=member.study, now=NOW)
    assert set(Dimension.objects.filter(study=member.study)) == set(usual)
    assert member.study.campaigns.get().dimensions.count() == len(usual)


def test_sample_data_is_not_mixed_with_other_topics(client: Client) -> None:
    member = MembershipFactory(role=Role.EDITOR)
    TopicFactory(study=member.study)
    with pytest.raises(sample.StudyNotEmptyError):
        sample.start(study=member.study, by=member.user, now=NOW)
    client.force_login(member.user)
    answer = client.post(reverse("copy_sample", args=[member.study.slug]))
    assert answer.url == reverse("study", args=[member.study.slug])
    member.study.refresh_from_db()
    assert not member.study.is_simulated
    assert Topic.objects.filter(study=member.study).count() == 1


def test_an_editor_starts_it_by_one_press_on_the_overview_of_an_empty_study(client: Client) -> None:
    member = MembershipFactory(role=Role.EDITOR)
    address = reverse("copy_sample", args=[member.study.slug])
    client.force_login(MembershipFactory(study=member.study, role=Role.REVIEWER).user)
    assert address not in client.get(reverse("study", args=[member.study.slug])).content.decode()
    assert client.post(address).status_code == 403
    client.force_login(member.user)
    assert f'action="{address}"' in client.get(reverse("study", args=[member.study.slug])).content.decode()
    answer = client.post(address)
    run = member.study.runs.get(kind=sample.KIND)
    assert (run.state, answer.url) == (RunState.PLANNED, reverse("run", args=[member.study.slug, run.key]))
