"""What an analysis reads of a study."""

import numpy as np
import pytest
from django.utils import timezone

from analysis.inputs import arrays, judgment_columns, queries
from analysis.inputs.texts import Texts, TextsMissingError
from annotation.enums import AssignmentState, CampaignKind, Judges
from annotation.models import Assignment, Judgment
from crowdrag.studies.models import Study
from tests.analysis import small_study
from tests.analysis.small_study import VOTES
from tests.factories import (
    AssignmentFactory,
    CampaignFactory,
    DimensionFactory,
    ItemFactory,
    QuestionnaireItemFactory,
    StudyFactory,
)
from writing.models import Response

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(shared_rows):
    return small_study.make().pk


@pytest.fixture
def study(made, db):
    return Study.objects.get(pk=made)


def answers(found: arrays.Inputs) -> dict[tuple[str, str, str, str], str]:
    """What each judge answered: (left, right, dimension, judge) to the letter of the label."""
    pool = found.main
    return {
        (*found.sides(u), found.dimensions[d].name, pool.participants[c]): "ANB"[v]
        for u, c, d, v in zip(pool.unit, pool.coder, pool.dimension, pool.value, strict=True)
    }


def test_load_gives_each_answer_as_presented(study):
    found = queries.load(study)
    assert answers(found) == {
        (left, right, dimension, judge): letter
        for (left, right), letters in VOTES.items()
        for dimension, row in zip(small_study.DIMENSIONS, letters, strict=True)
        for judge, letter in zip(small_study.JUDGES, row, strict=True)
    }
    assert found.topics == ("t1", "t2")
    assert found.styles == ("bullet", "essay")
    assert [dimension.name for dimension in found.dimensions] == ["clear", "deep"]


def test_votes_of_models_and_experts_are_pools_of_their_own_also_when_they_were_packed(study):
    before = queries.load(study)
    small_study.campaign(study, judges=Judges.MODEL, names=["gpt"], votes={("t1-x", "t1-y"): ("B", "B")})
    small_study.campaign(study, judges=Judges.EXPERT, names=["e1", "e2"], votes={("t1-x", "t1-y"): ("BB", "NN")})
    found = queries.load(study)
    assert answers(found) == answers(before)
    assert found.main.participants == small_study.JUDGES
    assert found.pools["expert"].participants == ("e1", "e2")
    assert len(found.pools["expert"].unit) == 4
    assert set(found.pools) == {"crowd", "expert", "model_combined"}  # a model's votes are in no table of the crowd
    assert found.counts == {"crowd": 56, "expert": 4, "model": 2, "questionnaires": 4}
    assert queries.load(study, pool=Judges.MODEL).main.participants == ("gpt",)
    back = arrays.unpack(found.pack())
    assert (back.digest, back.topics, back.responses) == (found.digest, found.topics, found.responses)
    assert back.dimensions == found.dimensions
    for name, pool in found.pools.items():
        assert (back.pools[name].units, back.pools[name].row.tolist()) == (pool.units, pool.row.tolist())


def test_assignments_that_do_not_count_are_left_out(study):
    given = Assignment.objects.filter(participant__external_id="w4")
    counts = {"state": AssignmentState.ACCEPTED, "is_included": True}
    for change in ({"is_included": False}, {"state": AssignmentState.REJECTED}, {"state": AssignmentState.SURPLUS}):
        given.update(**counts | change)
        found = queries.load(study)
        assert {judge for *_where, judge in answers(found)} == {"w1", "w2", "w3"} == set(found.main.participants)


def test_responses_that_are_not_included_and_repeated_answers_are_left_out(study):
    judgment = Judgment.objects.order_by("id").first()
    again = {"assignment": judgment.assignment, "item": judgment.item, "dimension": judgment.dimension}
    Judgment.objects.create(**again, value=1, repeat=1)
    assert len(queries.load(study).main.unit) == 56
    Response.objects.filter(external_id="t1-z").update(is_included=False)
    found = queries.load(study)
    assert {where[:2] for where in answers(found)} == {pair for pair in VOTES if "t1-z" not in pair}
    assert "t1-z" not in {response.name for response in found.responses}


def test_votes_count_in_the_order_of_questionnaires_and_the_first_k_are_found():
    study = StudyFactory()
    small_study.responses(study)
    pair = {("t1-x", "t1-y"): ("AA", "AA")}
    small_study.campaign(study, pair, names=["late", "later"], k=2)
    campaign = study.campaigns.get()
    later = QuestionnaireItemFactory(questionnaire__campaign=campaign, item=campaign.items.get(), position=3)
    for name in ("z", "a"):
        assignment = AssignmentFactory(questionnaire=later.questionnaire, participant__external_id=name)
        for dimension in campaign.dimensions.order_by("id"):
            Judgment.objects.create(assignment=assignment, item=later.item, dimension=dimension, value=1)
    pool = queries.load(study).main
    clear = pool.dimension == 0
    by_vote = [pool.participants[c] for _, c in sorted(zip(pool.vote[clear], pool.coder[clear], strict=True))]
    assert by_vote == ["late", "later", "z", "a"]
    counted = pool.first_votes()
    assert {pool.participants[c] for c in pool.coder[counted]} == {"late", "later"}
    assert pool.first_votes(3).sum() == 6


def test_who_judges_the_same_pair_again_counts_once():
    study = StudyFactory()
    small_study.responses(study)
    small_study.campaign(study, {("t1-x", "t1-y"): ("AA", "AA")}, names=["w1", "w2"])
    small_study.campaign(study, {("t1-x", "t1-y"): ("BB", "BB")}, names=["w1", "w3"])
    pool = queries.load(study).main
    assert pool.repeated == 2
    first = (pool.coder == pool.participants.index("w1")) & (pool.dimension == 0)
    assert pool.value[first].tolist() == [0]
    assert sorted(pool.vote[pool.dimension == 0].tolist()) == [0, 1, 2]


def test_pointwise_ratings_count_along_their_own_options(study):
    campaign = CampaignFactory(study=study, kind=CampaignKind.POINTWISE)
    options = [{"value": v, "label": str(v)} for v in (-3, -1, 1, 3)]
    dimension = DimensionFactory(study=study, name="clear", version=2, options=options)
    response = Response.objects.get(external_id="t1-x")
    item = ItemFactory(campaign=campaign, pair=None, response=response, topic=response.topic)
    entry = QuestionnaireItemFactory(item=item)
    assignment = AssignmentFactory(questionnaire=entry.questionnaire)
    Judgment.objects.create(assignment=assignment, item=item, dimension=dimension, value=3)
    pool = queries.load(study).pools["pointwise"]
    assert pool.value.tolist() == [3]
    assert queries.load(study).dimensions[pool.dimension[0]] == arrays.Dimension("clear", "clear", (-3, -1, 1, 3))


def test_digest_does_not_depend_on_row_ids_but_on_every_answer(study):
    first, second = queries.load(study), queries.load(small_study.make())
    assert not np.array_equal(first.main.row, second.main.row)
    assert first.digest == second.digest
    changed = dict(VOTES)
    changed["t1-x", "t1-y"] = ("AAAB", "AANA")
    assert queries.load(small_study.make(changed)).digest != first.digest


def test_load_takes_the_same_number_of_queries_whatever_there_is(study, django_assert_num_queries):
    for each in (study, small_study.make({("t1-x", "t1-y"): ("AB", "BA")})):
        with django_assert_num_queries(29):
            queries.load(each)
        with django_assert_num_queries(23):
            queries.load(each)  # the judgments were kept


def test_texts_are_read_as_they_were_digested_and_one_that_was_erased_is_an_error(study):
    found = queries.load(study)
    topics = list(Texts(study, found))
    read = {found.responses[written.index].name: written for topic in topics for written in topic.responses}
    rows = {response.external_id: response for response in Response.objects.filter(study=study)}
    assert {name: written.text for name, written in read.items()} == {name: row.text for name, row in rows.items()}
    assert [topic.topic for topic in topics] == sorted({response.topic for response in found.responses})
    for name, written in read.items():
        shown = rows[name].topic.retrieved.order_by("rank").values_list("passage__text", flat=True)
        assert list(written.passages) == list(shown)
    gone = rows["t1-x"]
    gone.text, gone.erased_at = "", timezone.now()
    gone.save()
    with pytest.raises(TextsMissingError, match="t1-x"):
        list(Texts(study, found))
    assert arrays.unpack(found.pack()).digest == found.digest


def test_columns_read_as_bytes_are_the_rows_that_there_are(study, monkeypatch):
    fields = {"row": "id", "coder": "assignment__participant_id", "value": "value"}
    judgments = Judgment.objects.of_study(study).counted()
    expected = sorted(judgments.values_list(*fields.values()))
    assert min(value for *_, value in expected) < 0
    for bits in (20, 2):  # one block, and many
        monkeypatch.setattr(judgment_columns, "BITS", bits)
        read = judgment_columns.read(judgments, fields)
        assert read.dtype == [(name, np.int64) for name in fields]
        assert read.tolist() == expected
    for none in (judgments.filter(value=77), Judgment.objects.filter(item__campaign__in=[])):
        assert judgment_columns.read(none, fields).shape == (0,)
