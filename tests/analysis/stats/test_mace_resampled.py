"""MACE in resamples: against fitting copies of the judgments one resample at a time."""

import numpy as np
import pytest

from analysis.stats import mace
from analysis.stats.labels import gold
from analysis.stats.mace_resampled import resample

ITEMS, PEOPLE = 24, 9


def judgments(seed=0, labels=3):
    """Five of nine people judge each item; a third of them guess."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, ITEMS)
    item = np.repeat(np.arange(ITEMS), 5)
    who = np.concatenate([rng.choice(PEOPLE, 5, replace=False) for _ in range(ITEMS)])
    knows = (who % 3 > 0) & (rng.random(len(item)) < 0.85)
    return item, who, np.where(knows, truth[item], rng.integers(0, labels, len(item)))


@pytest.fixture(scope="module")
def fitted():
    votes = judgments()
    return votes, mace.fit(*votes, rng=np.random.default_rng(0), items=ITEMS, annotators=PEOPLE)


def copied(votes, items, people):
    """The same judgments with items and people as often as they were drawn; and which copy is of whom."""
    rows = []
    names = [(who, copy) for who in range(PEOPLE) for copy in range(int(people[who]))]
    place = {name: number for number, name in enumerate(names)}
    new = {}
    for i, who, label in zip(*votes, strict=True):
        for item_copy in range(int(items[i])):
            number = new.setdefault((int(i), item_copy), len(new))
            rows += [(number, place[int(who), copy], label) for copy in range(int(people[who]))]
    return np.array(rows).T, new, names


@pytest.mark.parametrize("both", [False, True], ids=["topics", "topics and workers"])
def test_a_resample_is_a_fit_of_copied_judgments(fitted, both):
    votes, model = fitted
    rng = np.random.default_rng(1)
    items = rng.multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=6).astype(float)
    people = (
        rng.multinomial(PEOPLE, np.full(PEOPLE, 1 / PEOPLE), size=6).astype(float) if both else np.ones((6, PEOPLE))
    )
    found = resample(
        model, *votes, item_weights=items, annotator_weights=people if both else None, tolerance=1e-9,
        settings=mace.MaceSettings(max_iter=400),
    )  # fmt: skip
    assert found.converged.all()
    for column in range(6):
        (item, who, label), new, names = copied(votes, items[column], people[column])
        start = mace.MaceParameters(
            *(part[[who for who, _ in names]] for part in (model.parameters.spam, model.parameters.know)),
            strategy=model.parameters.strategy[[who for who, _ in names]],
        )
        alone = mace.fit(
            item, who, label, items=len(new), annotators=len(names), labels=3, start=start,
            settings=mace.MaceSettings(restarts=0, max_iter=400, tolerance=1e-9),
        )  # fmt: skip
        spam = [found.spam_probability[who, column] for who, _copy in names]
        judged = alone.judgments > 0
        assert np.array(spam)[judged] == pytest.approx(alone.spam_probability[judged], abs=1e-4)
        labels = gold(alone.posterior)
        heard = np.bincount(item, minlength=len(new)) > 0
        for (i, _copy), number in new.items():
            if heard[number]:
                assert found.label[i, column] == labels[number]


def test_without_refitting_labels_follow_from_the_votes_drawn(fitted):
    votes, model = fitted
    ones = np.ones((2, ITEMS))
    same = resample(model, *votes, item_weights=ones, refit=False)
    assert same.label[:, 0].tolist() == same.label[:, 1].tolist() == gold(model.posterior).tolist()
    assert same.spam_probability[:, 0] == pytest.approx(model.spam_probability, abs=1e-6)
    # Whoever was not drawn is not heard: only the first person speaks, and wherever they judged, their word stands.
    trusted = int(np.argmax(model.competence))
    alone = np.zeros((1, PEOPLE))
    alone[0, trusted] = 1
    heard = resample(model, *votes, item_weights=ones[:1], annotator_weights=alone, refit=False)
    item, who, label = votes
    for i, value in zip(item[who == trusted], label[who == trusted], strict=True):
        assert heard.label[i, 0] == value


def test_all_drawn_once_and_settled_stays_where_the_fit_is(fitted):
    votes, model = fitted
    long = mace.MaceSettings(restarts=0, max_iter=2000, tolerance=1e-12)
    settled = mace.fit(*votes, start=model.parameters, settings=long, items=ITEMS, annotators=PEOPLE)  # fmt: skip
    found = resample(settled, *votes, item_weights=np.ones((1, ITEMS)))
    assert found.spam_probability[:, 0] == pytest.approx(settled.spam_probability, abs=1e-4)


def test_known_labels_stay_known(fitted):
    votes, _model = fitted
    known = np.full(ITEMS, -1)
    known[:3] = 1
    model = mace.fit(*votes, rng=np.random.default_rng(0), items=ITEMS, annotators=PEOPLE, fixed=known)
    weights = np.random.default_rng(2).multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=20).astype(float)
    assert (resample(model, *votes, item_weights=weights, fixed=known).label[:3] == 1).all()


def test_blocks_change_nothing_and_are_told(fitted, monkeypatch):
    votes, model = fitted
    weights = np.random.default_rng(3).multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=10).astype(float)
    whole = resample(model, *votes, item_weights=weights)
    monkeypatch.setattr("analysis.stats.mace_resampled._BLOCK_BYTES", 8 * 3 * ITEMS * 4)
    told = []
    blocks = resample(model, *votes, item_weights=weights, report=told.append)
    assert told == [4, 8, 10]
    assert np.array_equal(blocks.label, whole.label)
    assert blocks.spam_probability == pytest.approx(whole.spam_probability, abs=1e-6)


def test_a_label_that_nobody_used_is_never_said():
    votes = judgments(labels=2)
    item, who, label = votes[0], votes[1], votes[2] * 2  # a and b, no n
    model = mace.fit(item, who, label, rng=np.random.default_rng(0), items=ITEMS, annotators=PEOPLE, labels=3)
    found = resample(model, item, who, label, item_weights=np.ones((3, ITEMS)))
    assert set(found.label.ravel().tolist()) <= {0, 2}


def test_weights_of_another_shape_are_refused(fitted):
    votes, model = fitted
    with pytest.raises(ValueError, match="weight"):
        resample(model, *votes, item_weights=np.ones((3, ITEMS + 1)))
