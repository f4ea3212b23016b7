"""Labels that are known beforehand: fixed in MACE, in the digest only where there are any."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.inputs import arrays, queries
from analysis.methods import fits
from analysis.methods.settings import AnalysisSettings
from annotation.models import Campaign, Dimension, Item, KnownLabel, QuestionnaireItem
from tests.analysis import small_study, vote_inputs
from tests.analysis.rows import row_of

QUICK = AnalysisSettings(resamples=20, restarts=5, refine=0)
# What `fixed` gave before labels could be known: whoever has no gold items has the digest they had.
BEFORE = "a83f8893d6573fa10fffde0401a4135128ffab13303deeb511fff5ed41e5a4b9"


def fixed(schema: int = arrays.SCHEMA) -> arrays.Inputs:
    """Inputs written out in full."""
    ints = lambda *values: np.array(values, dtype=np.int64)  # noqa: E731
    pool = arrays.Pool(
        participants=("p", "q"), units=((0, 1, 0, ""),), unit=ints(0, 0), coder=ints(0, 1), dimension=ints(0, 0),
        value=ints(0, 2), vote=ints(0, 1), k=ints(5, 5), position=ints(0, 3), row=ints(7, 8),
    )  # fmt: skip
    responses = tuple(arrays.Response(name, "t", "s", "human", "w", 9) for name in "xy")
    asked = (arrays.Dimension("clear", "Clear", (-1, 0, 1)),)
    return arrays.Inputs("crowd", ("t",), ("s",), asked, responses, {"crowd": pool}, schema=schema)


def make_gold(study: Any, dimension: str, value: int, *, item: Item | None = None) -> Item:
    """Let the first pair be a gold item with a known label."""
    found = item or Item.objects.filter(campaign__study=study).order_by("pk").first()
    QuestionnaireItem.objects.filter(item=found).update(has_known_label=True)
    asked = Dimension.objects.get(study=study, name=dimension, campaign_dimensions__campaign=found.campaign)
    KnownLabel.objects.update_or_create(item=found, dimension=asked, defaults={"value": value})
    return found


def test_inputs_as_they_were_first_written_have_the_digest_that_they_had() -> None:
    first = fixed(schema=1)
    assert first.digest == BEFORE
    assert b"known" not in first.pack()[8:]
    assert hashlib.sha256(b"".join(first._parts())).hexdigest() == BEFORE
    assert arrays.unpack(first.pack()).digest == BEFORE
    assert fixed().digest != BEFORE


@pytest.mark.django_db
def test_known_labels_change_the_digest_and_survive_packing() -> None:
    study = small_study.make()
    before = queries.load(study)
    assert before.main.known == ()
    item = make_gold(study, "clear", 1)
    found = queries.load(study)
    (unit, dimension, value) = found.main.known[0]
    assert (found.dimensions[dimension].name, value) == ("clear", 2)
    assert found.sides(unit) == (item.pair.a.external_id, item.pair.b.external_id)
    assert found.digest != before.digest
    back = arrays.unpack(found.pack())
    assert (back.digest, back.main.known) == (found.digest, found.main.known)
    make_gold(study, "clear", -1)
    assert queries.load(study).digest not in {before.digest, found.digest}
    QuestionnaireItem.objects.filter(item=item).update(has_known_label=False)  # what is not shown as gold is not known
    assert queries.load(study).main.known == ()


@pytest.mark.parametrize("letter", ["a", *(pytest.param(each, marks=pytest.mark.extended) for each in "nb")])
def test_mace_is_given_what_is_known(letter: str) -> None:
    found = vote_inputs.inputs_of(small_study.VOTES)
    pool = replace(found.main, known=((0, 0, "anb".index(letter)),))
    found = replace(found, pools={"crowd": pool})

    def label(fix_known: bool) -> dict[str, Any]:
        settings = AnalysisSettings(resamples=20, restarts=5, refine=0, fix_known=fix_known)
        rows = vote_inputs.TablesOnDemand(found, settings)["gold"]
        left, right = found.sides(0)
        return row_of(rows, response_a=left, response_b=right, dimension="clear")

    known, free = label(fix_known=True), label(fix_known=False)
    assert (known["label"], known[f"p_{letter}"]) == (letter, 1)
    assert max(free["p_a"], free["p_n"], free["p_b"]) < 1


@pytest.mark.django_db
def test_what_is_known_tells_who_can_be_trusted_also_by_votes_beyond_k() -> None:
    """Agreement is computed from the first k votes; MACE sees all of them."""
    study = small_study.make()
    Campaign.objects.filter(study=study).update(k=2)
    for item in Item.objects.filter(campaign__study=study):
        make_gold(study, "clear", 1, item=item)
    found = queries.load(study)
    fitted = fits.fit(found, "crowd", settings=QUICK, seed=0, report=lambda _: None, capped=True)
    clear = next(each for each in fitted.fits if each.dimension.name == "clear")
    assert clear.model is not None
    # 7 pairs of which agreement takes 2 votes each, of 4 that were given; MACE saw them all.
    assert (clear.counts.sum(), clear.model.judgments.sum()) == (14, 28)
    here = found.main.dimension == found.dimensions.index(clear.dimension)
    hits = [np.mean(found.main.value[here & (found.main.coder == who)] == 2) for who in range(4)]
    assert max(hits) > min(hits)
    assert clear.model.spam_probability[np.argmax(hits)] < clear.model.spam_probability[np.argmin(hits)]


@pytest.mark.django_db
def test_campaigns_that_contradict_each_other_know_nothing() -> None:
    study = small_study.make()
    item = make_gold(study, "clear", 1)
    again = small_study.campaign(study, {(item.pair.a.external_id, item.pair.b.external_id): ("A",)}, names=["w9"],
                                 dimensions=["clear"])  # fmt: skip
    twin = again.items.get()
    make_gold(study, "clear", -1, item=twin)
    assert queries.load(study).main.known == ()
    make_gold(study, "clear", 1, item=twin)
    assert len(queries.load(study).main.known) == 1
