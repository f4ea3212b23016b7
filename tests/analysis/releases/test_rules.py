"""How often the rules for personal data are right, on planted texts; the figures stand in the guide."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.enums import PersonalKind
from analysis.releases.personal_data import rules
from tests.analysis.cases import check_each
from tests.analysis.releases import planted

SEED, N = 7, 1200


def covered(text: str, words: str) -> bool:
    start = text.index(words)
    found = {i for match in rules.find(text) for i in range(match.start, match.end)}
    return set(range(start, start + len(words))) <= found


def test_what_is_planted_is_found_whole_under_its_kind_and_nothing_else_is() -> None:
    right: Counter[PersonalKind] = Counter()
    wrong: list[str] = []
    for each in planted.texts(SEED, N):
        ((kind, words),) = each.spans
        found = rules.find(each.text)
        start = each.text.index(words)
        inside = [match for match in found if match.start < start + len(words) and start < match.end]
        right[kind] += covered(each.text, words) and {match.kind for match in inside} == {kind}
        wrong += [each.text[match.start : match.end] for match in found if match not in inside]
    assert min(right[kind] for kind in planted.KINDS) >= 0.98 * N / len(planted.KINDS), right
    assert len(wrong) <= 0.01 * N, wrong


def test_what_only_looks_so_is_not_found() -> None:
    def check(text: str) -> None:
        assert [text[match.start : match.end] for match in rules.find(text)] == []

    check_each(planted.INNOCENT, check)


def test_the_guide_says_how_much_of_the_hard_forms_is_found() -> None:
    found = sum(covered(text, words) for text, words in planted.HARD)
    assert found == 6
    guide = (planted.GUIDE).read_text()
    assert f"{found} of {len(planted.HARD)}" in guide


def test_check_digits_tell_accounts_and_cards_from_other_numbers() -> None:
    assert rules.find("DE89 3704 0044 0532 0130 00")[0].kind == PersonalKind.ACCOUNT  # ISO 13616's own example
    assert PersonalKind.ACCOUNT not in {match.kind for match in rules.find("DE88 3704 0044 0532 0130 00")}
    assert rules.find("4111 1111 1111 1111")[0].kind == PersonalKind.CARD
    assert rules.find("4111 1111 1111 1112") == []


def test_words_and_ids_of_the_person_are_found_once_in_any_case_as_code_points() -> None:
    ashby, id_ = PersonalKind.ANSWER, PersonalKind.PLATFORM
    for text, known, found in (
        (
            "As they say in Ashby, ashbys are rare; ASHBY it is.",
            {"own_answers": ("Ashby",)},
            [("Ashby", ashby), ("ASHBY", ashby)],
        ),
        ("I am worker_Nine here.", {"known": frozenset({"worker_nine"})}, [("worker_Nine", id_)]),
        ("𝔘 İ maria@example.org", {"own_answers": ("maria@example.org", "maria")}, [("maria@example.org", None)]),
    ):
        matches = rules.find(text, **known)
        assert [text[match.start : match.end] for match in matches] == [words for words, _kind in found]
        assert all(kind in (None, match.kind) for match, (_words, kind) in zip(matches, found, strict=True))


#: What rules look at, as people write it and as nobody does.
PIECES = st.sampled_from(
    [
        *(words for each in planted.texts(SEED, 300) for _kind, words in each.spans),
        *(words for _text, words in planted.HARD),
        *planted.INNOCENT,
        *("\u00a0", "\u2013", "\u0663", "\u0967", "\u212a", "\u0130", "\ud800", " AT ", " at ", "@", "://", ":", "1"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=6).map("".join))
def test_where_a_look_says_that_there_is_nothing_the_rules_find_nothing(text: str) -> None:
    (may,) = rules.may_hold([text])
    assert may or rules.find(text) == []


def test_a_look_is_enough_for_most_texts() -> None:
    few = ["Leaves fall in 2019 [3][4].", "Call +44 20 7946 0123", "\ud800 a@example.org"]
    assert rules.may_hold(few) == [False, True, True]
    assert rules.find("Call +44 20 7946 0123", by_rules=False) == []


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "1 " * 25_000, "a." * 25_000, "@" * 50_000, "+1-" * 20_000, "Aa " * 20_000]
)
def test_no_text_makes_a_rule_try_every_way(text: str) -> None:
    # Some rule that tried every way would never come back; the test would not end.
    assert len(rules.find(text)) < 50_000
