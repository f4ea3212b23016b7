"""The expected precision of a campaign, by hand."""

import pytest

from analysis.stats.proportions import planned_width
from annotation.campaigns import precision, questionnaires
from annotation.enums import CampaignKind
from annotation.models import LiveAgreement
from crowdrag.studies.models import Study
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.shared import made_once
from tests.factories import NOW

pytestmark = pytest.mark.django_db
stored, study = made_once(lambda: corpus(topics=4))


def test_drawn_or_not_the_width_is_that_of_its_pairs(study: Study) -> None:
    campaign = draft(study, k=5, reverse_share=0.5)
    expected = precision.expected_precision(campaign)
    # Of each topic three texts of people meet three of one model: 9 pairs; those of one system do not count.
    assert (expected.pairs, expected.agreement, expected.is_assumed) == (36, precision.ASSUMED, True)
    assert expected.width == pytest.approx(planned_width(36, 5 * 1.5, precision.ASSUMED))
    questionnaires.build(campaign=campaign, now=NOW)
    assert precision.expected_precision(campaign) == expected
    LiveAgreement.objects.create(
        campaign=campaign, dimension=campaign.dimensions.first(), alpha=0.5, items=9, judgments=9, computed_at=NOW
    )
    assert precision.expected_precision(draft(study, "other", k=10)).agreement == 0.5


def test_without_two_systems_there_is_none(study: Study) -> None:
    assert precision.expected_precision(draft(study, origins=("HUMAN",))) is None
    assert precision.expected_precision(draft(study, "rated", kind=CampaignKind.POINTWISE)) is None
