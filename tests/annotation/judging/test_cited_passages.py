"""The passages that judges may read: the texts of those that responses cite, where the campaign shows them."""

import pgtrigger
import pytest

from annotation.judging import cited_passages
from tests.annotation.judging.judging_page import JudgingPage
from tests.factories import PassageFactory
from writing.models import Citation, RetrievedPassage, Statement

pytestmark = pytest.mark.django_db


def cite(sheet: JudgingPage) -> int:
    """Retrieve three passages for an item's topic, of which its responses cite the first and the last."""
    item = sheet.questions[0][0]
    study = sheet.world.study
    retrieved = [
        RetrievedPassage.objects.create(
            topic=item.topic,
            passage=PassageFactory(study=study, external_id=f"bing-{n}", text=f"Passage {n}."),
            rank=50 + n,
        )
        for n in range(3)
    ]
    with pgtrigger.ignore():
        for response, passage in zip((item.pair.a, item.pair.b), (retrieved[0], retrieved[2]), strict=True):
            statement = Statement.objects.create(response=response, position=50, start=0, end=1)
            Citation.objects.create(statement=statement, retrieved=passage)
    return item.pk


def test_cited_passages_are_shown_without_where_they_come_from() -> None:
    sheet = JudgingPage(shows_passages=True)
    item = cite(sheet)
    address = sheet.address("questionnaire") + f"passages/{item}/"
    answer = sheet.client.get(address)
    assert answer.json() == {"passages": {"50": "Passage 0.", "52": "Passage 2."}}
    assert "bing" not in answer.content.decode()
    source = sheet.client.get(sheet.address("questionnaire")).content.decode()
    assert "data-passages" in source
    assert "Passage 0." not in source
    # Of no item of another questionnaire, and to nobody else.
    assert cited_passages.load(sheet.mine, 0) is None
    assert sheet.client.get(sheet.address("questionnaire") + "passages/0/").status_code == 404


def test_a_campaign_shows_none_unless_it_says_so() -> None:
    sheet = JudgingPage()
    item = cite(sheet)
    assert sheet.client.get(sheet.address("questionnaire") + f"passages/{item}/").status_code == 404
    assert "data-passages" not in sheet.client.get(sheet.address("questionnaire")).content.decode()
