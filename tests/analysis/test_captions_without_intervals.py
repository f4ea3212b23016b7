"""A caption that promises intervals tells where there are none, and why."""

import pytest
from django.urls import reverse

from analysis.domain import captions
from analysis.domain.captions import missing
from analysis.domain.reports import building
from analysis.domain.results.agreement import ONE_TOPIC
from tests.analysis import small_study
from tests.analysis.small_study import analyse

from .visits import client_of

ALONE = {"dimension": "d", "mean": 1.5, "low": None, "high": None, "note": ONE_TOPIC}
WITH = {"dimension": "e", "mean": 1.5, "low": 1.0, "high": 2.0}


def test_a_table_without_one_interval_has_a_remark_with_the_reason_if_all_share_one():
    for rows, has_reason in (([ALONE, ALONE], True), ([ALONE, ALONE | {"note": "another reason"}], False)):
        (remark,) = missing.without_intervals({"grade_means": rows}).values()
        assert (ONE_TOPIC in remark) is has_reason
    for tables in ({"grade_means": [ALONE, WITH]}, {"grade_means": [ALONE | {"mean": None}]},
                   {"grade_means": [], "mace": [{"log_likelihood": 1.0}]}):  # fmt: skip
        assert missing.without_intervals(tables) == {}


def test_only_captions_that_promise_intervals_take_it_back():
    remarks = {"grade_means": "None here."}
    for caption, table, is_changed in (
        ("With 95 % intervals.", "grade_means", True),
        ("Of grades.", "grade_means", False),
        ("With 95 % intervals.", "agreement", False),
    ):
        assert (missing.promised(caption, [table], remarks) != caption) is is_changed
    naming = building.Naming({}, {})
    assert ONE_TOPIC in building.table("grade_means", [ALONE], {}, naming).caption
    assert building.table("grade_means", [WITH], {}, naming).caption == str(captions.table("grade_means").caption)


@pytest.mark.django_db
def test_pages_of_a_study_of_one_topic_give_the_reason():
    study = small_study.make({pair: letters for pair, letters in small_study.VOTES.items() if pair[0].startswith("t1")})
    analyse(study)
    client = client_of(study)
    for page in ("results", "grades", "order_results", "report"):
        assert f"{ONE_TOPIC}." in client.get(reverse(page, args=[study.slug])).content.decode(), page
