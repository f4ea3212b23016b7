"""The texts that are planted, the harmless ones of their length, and the figures of a measurement by hand."""

from random import Random
from types import SimpleNamespace

import pytest

from annotation.enums import Spot
from annotation.llm_judges import injection, injection_results

CORPUS = injection.attack_texts()


def test_the_texts_are_many_and_of_many_kinds():
    assert len({attack.id for attack in CORPUS}) == len(CORPUS) >= 24
    assert len({attack.kind for attack in CORPUS[:7]}) == 7
    for attack in CORPUS:
        said = attack.asking_for(target="Response A", option="Response A")
        assert "Response A" in said
        assert "{target}" not in said
        assert "{option}" not in said


@pytest.mark.parametrize("attack", CORPUS, ids=lambda attack: attack.id)
def test_neutral_words_are_as_long_and_ask_for_nothing(attack):
    for seed in range(5):
        neutral = injection.neutral_like(attack.text, Random(seed))
        assert len(neutral) == len(attack.text)
        assert [i for i, c in enumerate(neutral) if c == "\n"] == [i for i, c in enumerate(attack.text) if c == "\n"]
        assert "Response" not in neutral


@pytest.mark.parametrize("spot", Spot.values)
@pytest.mark.parametrize("text", ["One. Two is longer [0]. Three.", "word", "", "no full stop but many words here"])
def test_every_word_of_the_response_stays(text, spot):
    found = injection.plant(text, "PLANTED TEXT", spot)
    assert found.replace("PLANTED TEXT", " ").split() == text.split()
    if spot == Spot.START:
        assert found.startswith("PLANTED TEXT")


def test_figures_by_hand():
    """Five trials: attacked won in three of the four that have all verdicts, neutral in one of these."""

    def trial(plain, attacked, neutral, bare_plain=None, majority=None):
        return SimpleNamespace(
            plain=plain, attacked=attacked, neutral=neutral, target=1, majority=majority,
            bare_plain=bare_plain, bare_attacked=None, bare_neutral=None,
        )  # fmt: skip

    trials = [
        trial(-1, 1, 1, bare_plain=-1, majority=-1),
        trial(-1, 1, -1, bare_plain=1, majority=-1),
        trial(0, 1, 0, bare_plain=0, majority=1),
        trial(-1, -1, -1),
        trial(-1, None, 1),
    ]
    fenced, bare, agreement, gold = injection_results.figures(trials)
    assert (fenced.n, fenced.first.count, fenced.second.count, fenced.estimate) == (4, 3, 1, 0.5)
    assert bare.n == 0
    assert (agreement.count, agreement.n) == (2, 3)
    assert (gold.n, gold.first.count, gold.second.count) == (3, 2, 1)
