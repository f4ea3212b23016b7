"""A caption that promises intervals says where there are none, and why."""

import pytest
from django.urls import reverse

from analysis.domain import captions
from analysis.domain.captions import missing
from analysis.domain.reports import building
from analysis.domain.results.agreement import ONE_TOPIC
from crowdrag.studies.enums import Role
from tests.analysis import small_study
from tests.analysis.reports.reported import analyse
from tests.factories import MembershipFactory

ALONE = {"dimension": "d", "mean": 1.5, "low": None, "high": None, "note": ONE_TOPIC}
WITH = {"dimension": "e", "mean": 1.5, "low": 1.0, "high": 2.0}
SAID = f"Here without intervals: {ONE_TOPIC}."


def test_of_a_table_without_one_interval_the_reason_is_said():
    assert missing.without_intervals({"grade_means": [ALONE, ALONE]}) == {"grade_means": SAID}
    other = ALONE | {"note": "another reason"}
    assert missing.without_intervals({"grade_means": [ALONE, other]}) == {"grade_means": "Here without intervals."}


def test_one_interval_or_no_number_keeps_the_caption_as_it_is():
    assert missing.without_intervals({"grade_means": [ALONE, WITH]}) == {}
    assert missing.without_intervals({"grade_means": [ALONE | {"mean": None}]}) == {}
    assert missing.without_intervals({"grade_means": [], "mace": [{"log_likelihood": 1.0}]}) == {}


def test_only_captions_that_promise_intervals_take_it_back():
    without = {"grade_means": SAID}
    assert missing.promised("With 95 % intervals.", ["grade_means"], without) == f"With 95 % intervals. {SAID}"
    assert missing.promised("Of grades.", ["grade_means"], without) == "Of grades."
    assert missing.promised("With 95 % intervals.", ["agreement"], without) == "With 95 % intervals."


def test_reports_say_it_below_tables():
    naming = building.Naming({}, {})
    assert building.table("grade_means", [ALONE], {}, naming).caption.endswith(SAID)
    assert building.table("grade_means", [WITH], {}, naming).caption == str(captions.table("grade_means").caption)


@pytest.mark.django_db
def test_pages_of_a_study_of_one_topic_promise_nothing(client, monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)
    votes = {pair: letters for pair, letters in small_study.VOTES.items() if pair[0].startswith("t1")}
    study = small_study.make(votes)
    analyse(study)
    client.force_login(MembershipFactory(study=study, role=Role.VIEWER).user)
    for page in ("results", "grades", "order_results", "report"):
        assert SAID in client.get(reverse(page, args=[study.slug])).content.decode(), page
