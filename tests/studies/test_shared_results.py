"""Results that the parts of a page share."""

import pytest

from crowdrag.studies.models import Study
from crowdrag.studies.shared_results import shared, sharing_results

FIRST, SECOND = Study(pk=1), Study(pk=2)


@pytest.fixture
def computed():
    return []


@pytest.fixture
def slug(computed):
    @shared
    def compute(study):
        computed.append(study.pk)
        return None if study is FIRST else study.pk

    return compute


@sharing_results()
def fail_on_a_page(compute):
    compute(SECOND)
    raise ZeroDivisionError


def test_a_result_is_computed_once_for_each_study(slug, computed):
    with sharing_results():
        answers = [slug(FIRST), slug(FIRST), slug(SECOND), slug(SECOND)]
    assert answers == [None, None, 2, 2]
    assert computed == [1, 2]


def test_nothing_is_kept_after_the_page_or_an_error(slug, computed):
    with pytest.raises(ZeroDivisionError):
        fail_on_a_page(slug)
    with sharing_results():
        slug(SECOND)
    slug(SECOND)
    slug(SECOND)
    assert computed == [2, 2, 2, 2]
