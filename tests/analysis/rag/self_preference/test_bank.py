"""Which passages can be used, which are compared, and passages that a model makes."""

from dataclasses import replace

import pytest

from analysis.rag.protocols import Document, Query
from analysis.rag.qa_metrics import NoGoldAnswerError
from analysis.rag.self_preference import bank, bank_builder, knowledge
from analysis.rag.self_preference.bank import Case, Flaw
from analysis.rag.self_preference.bank_builder import build, cleaned, false_answer_of, passage_of
from analysis.rag.self_preference.replies import UnreadableError
from tests.analysis.cases import check_each
from tests.analysis.rag.self_preference import planted
from tests.analysis.rag.self_preference.test_replies import Script

TRUE = Document("a_true", "The song is by Linda Davis.", is_helpful=True, author="a", answer="Linda Davis")
FALSE = replace(TRUE, id="a_false", text="The song is by Lisa Thompson.", is_helpful=False, answer="Lisa Thompson")
QUERY = Query("q", "Who sings it?", ("Linda Davis",), (TRUE, FALSE))


def test_flaws():
    def check(passage, found):
        assert bank.flaw(QUERY, passage) == found

    check_each(
        [
            (TRUE, None),
            (FALSE, None),
            (replace(TRUE, text=" \n"), Flaw.EMPTY),
            (replace(TRUE, text="The song is by Linda Davison."), Flaw.NO_ANSWER),
            (replace(FALSE, text="By Lisa Thompson, not LINDA DAVIS."), Flaw.TRUTH_LEFT),
            (replace(FALSE, text="By Linda.", answer="Linda"), Flaw.INDISTINCT),
            (replace(FALSE, text="By linda davis", answer="linda davis."), Flaw.INDISTINCT),
            (replace(FALSE, answer="Failed to generate false answer."), Flaw.NOT_MADE),
            (replace(TRUE, text="Whatever people wrote", is_helpful=None, answer=""), None),
        ],
        check,
    )


def test_without_a_gold_answer_nothing_that_claims_one_can_be_used():
    bare = replace(QUERY, answers=())
    assert [why for _id, why in bank.usable(bare)[1]] == [Flaw.NO_GOLD] * 2
    assert bank.usable(replace(QUERY, documents=()))[1] == ()
    assert bank.pairs(bank.usable(bare)[0], ["a", "human"]) == []
    with pytest.raises(NoGoldAnswerError):
        knowledge.recall(planted.Evaluator(), bare)


@pytest.mark.parametrize(("words", "kept"), [(300, "a_long"), (100, "a_qa")])
def test_of_one_text_in_two_styles_the_one_whose_length_it_has_stays(words, kept):
    text = "Linda Davis " + "word " * words
    both = tuple(replace(TRUE, id=f"a_{style}", style=style, text=text) for style in ("qa", "long"))
    query, flaws = bank.usable(replace(QUERY, documents=both))
    assert [each.id for each in query.documents] == [kept]
    assert [why for _id, why in flaws] == [Flaw.SAME_TEXT]


def test_each_pair_stands_in_both_orders_and_false_ones_share_an_answer_where_they_can():
    pairs = bank.pairs(planted.question(1), ["gpt", "llama", "human"], "gpt")
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        assert (one.first, one.second) == (other.second, other.first)
        assert one.first is one.ours
    false = {(p.ours.author, p.theirs.author): p for p in pairs if p.case is Case.BOTH_FALSE}
    assert false["gpt", "human"].theirs.id == "human_false_gpt"
    assert false["gpt", "human"].is_told
    assert not false["gpt", "llama"].is_told
    assert all(not p.is_told for p in pairs if p.case in bank.MIXED)


def test_passages_of_which_no_truth_is_known_are_compared_style_by_style():
    def written(author, style):
        return Document(f"{author}-{style}", f"{author} {style}", author=author, style=style)

    documents = [written("human", "essay"), written("m", "essay"), written("m", "news"), written("human", "bullet")]
    pairs = bank.pairs(Query("q", "?", (), tuple(documents)), ["m", "human"], "m")
    assert [(p.case, p.ours.id, p.theirs.id, p.is_ours_first, p.is_told) for p in pairs] == [
        (Case.AS_WRITTEN, "m-essay", "human-essay", True, True),
        (Case.AS_WRITTEN, "m-essay", "human-essay", False, True),
    ]


def test_passages_are_made_and_false_ones_follow_from_them():
    human = replace(TRUE, id="human_true", author="human", text="The song is by linda  davis, said Linda Davis.")
    long = "Linda Davis sang it. " + "So it was. " * 80
    qa = "Linda Davis sang it. " + "So it was. " * 20
    rewrite = 'Here is the paragraph:\n\n"It was Linda Davis who sang."'
    made = build(Script(rewrite, "Answer: Lisa Thompson.", qa, long), replace(QUERY, documents=(human,)), "me")
    assert made.dropped == ()
    assert made.false_answer == "Lisa Thompson"
    texts = {each.id: each.text for each in made.passages}
    assert texts["me_true"] == "It was Linda Davis who sang."
    assert texts["me_false"] == "It was Lisa Thompson who sang."
    assert texts["human_false_me"] == "The song is by Lisa Thompson, said Lisa Thompson."
    assert {each.id: (each.author, each.style, each.is_helpful, each.answer) for each in made.passages} == {
        "me_true": ("me", "normal", True, "Linda Davis"),
        "me_qa": ("me", "qa", True, "Linda Davis"),
        "me_long": ("me", "long", True, "Linda Davis"),
        "human_false_me": ("human", "", False, "Lisa Thompson"),
        "me_false": ("me", "normal", False, "Lisa Thompson"),
    }
    whole = replace(QUERY, documents=(human, *made.passages))
    assert bank.usable(whole)[1] == ()


def test_what_cannot_be_made_is_asked_for_again_and_dropped_with_the_reason():
    human = replace(TRUE, id="human_true", author="human")
    texts = ["It was she.", "Linda", None, "short Linda Davis"] * 2
    made = build(Script(*texts), replace(QUERY, documents=(human,)), "me", attempts=2)
    assert made.passages == ()
    assert {(each.passage, each.reason, each.attempts) for each in made.dropped} == {
        ("me_true", "answer_missing", 2), ("false_answer", "indistinct", 2),
        ("me_qa", "no_text", 2), ("me_long", "length", 2),
    }  # fmt: skip


def test_without_a_human_passage_or_a_gold_answer_nothing_is_asked():
    assert build(Script(), QUERY, "me").dropped[0].reason == "no_human_passage"
    assert build(Script(), replace(QUERY, answers=()), "me").dropped[0].reason == Flaw.NO_GOLD


def test_what_is_no_part_of_a_passage_is_taken_away():
    for text, kept in (
        ("Here is it:\n\nText.", "Text."),
        ('"All of it."', "All of it."),
        ('"Does He Love You" is by "Linda"', '"Does He Love You" is by "Linda"'),
        ("One: two.", "One: two."),
        ("Passage: Text.", "Text."),
    ):
        assert cleaned(text) == kept


def test_false_answers_that_are_none():
    long = "a name of far too many words"
    for text, problem in (("", "format"), ("one\ntwo", "format"), (long, "length"), ("Davis", "indistinct")):
        with pytest.raises(UnreadableError) as raised:
            false_answer_of(("Linda Davis",), text)
        assert raised.value.problem == problem


def test_bounds_of_a_passage_are_both_included():
    assert passage_of("x", 2, 3, "x y z") == "x y z"
    for text in ("x", "x y z w"):
        with pytest.raises(UnreadableError) as raised:
            passage_of("x", 2, 3, text)
        assert raised.value.problem == "length"


def test_a_truth_in_other_words_is_left_and_said():
    query = replace(QUERY, answers=("Linda Davis", "L. Davis"))
    passage = replace(TRUE, text="Linda Davis, that is L. Davis.")
    made = bank_builder.falsified(query, passage, "Lisa Thompson", "me")
    assert isinstance(made, bank_builder.Dropped)
    assert made.reason == Flaw.TRUTH_LEFT
