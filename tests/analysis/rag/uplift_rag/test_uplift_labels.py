"""Labels of planted queries, where each is known; selection; what a selection lacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rag.protocols import Document, Output, Query
from analysis.rag.qa_metrics import NoGoldAnswerError
from analysis.rag.uplift_rag import document_selection, uplift_labels
from analysis.rag.uplift_rag.document_selection import Missing
from analysis.rag.uplift_rag.uplift_labels import Category, LabelledQuery, prompt
from tests.analysis.rag.uplift_rag import planted

DOCUMENTS = tuple(Document(str(i), f"text {i}") for i in range(4))


def labelled(
    without="x", alone=("x", "Ada", "Ada Lovelace", "x"), metric="f1", answers=("Ada Lovelace",)
) -> LabelledQuery:
    documents = DOCUMENTS[: len(alone)]
    return LabelledQuery(Query("q", "Who?", answers, documents), documents, without, tuple(alone), metric)


def test_uplift_is_the_score_with_a_document_less_the_score_without():
    one = labelled()
    assert one.uplift.tolist() == pytest.approx([0, 2 / 3, 1, 0])  # F1 of "Ada": 2 * 1 / (1 + 2)
    assert labelled(metric="em").uplift.tolist() == [0, 0, 1, 0]
    known = labelled(without="Ada Lovelace")
    assert known.uplift.tolist() == pytest.approx([-1, -1 / 3, 0, -1])
    assert not known.helpful.any()


def test_categories_are_by_exact_match_and_add_up():
    one, known = labelled(), labelled(without="ada lovelace!")
    wrong, right = Category.LEFT_WRONG, Category.KEPT_RIGHT
    assert one.categories == (wrong, wrong, Category.CORRECTED, wrong)
    assert known.categories == (Category.MISLED, Category.MISLED, right, Category.MISLED)
    assert uplift_labels.shares([one, known]) == {
        Category.CORRECTED: 1 / 8,
        Category.MISLED: 3 / 8,
        right: 1 / 8,
        wrong: 3 / 8,
    }
    assert all(np.isnan(share) for share in uplift_labels.shares([]).values())


def test_planted_uplift_is_found_and_asked_for_d_plus_one_times():
    generator = planted.Planted()
    queries = planted.queries(30, np.random.default_rng(3))
    for query in queries:
        one, outputs = uplift_labels.label(query, query.documents, generator)
        assert one.helpful.tolist() == [document.is_helpful for document in query.documents]
        assert len(outputs) == len(query.documents) + 1
    assert len(generator.asked) == sum(len(query.documents) + 1 for query in queries)
    assert len(set(generator.asked)) == len(generator.asked)


def test_prompts_are_the_papers_and_share_their_beginning():
    asked = uplift_labels.prompts(Query("q", "Who?", ("Ada",), DOCUMENTS), DOCUMENTS, max_tokens=9)
    assert [each.max_tokens for each in asked] == [9] * 5
    assert asked[0].messages[0].content == (
        "Answer the question based on your own knowledge. Only give me the answer and do not output any other words."
    )
    assert {each.messages[1].content for each in asked} == {"Question: Who?\nAnswer:"}
    shown = [each.messages[0].content.rpartition("\n\n")[2] for each in asked[1:]]
    assert shown == [f"Doc 1: text {i}" for i in range(4)]
    both = prompt("Who?", [Document("1", "One.", "A title"), Document("2", "Two.")]).messages[0].content
    assert both.endswith("Doc 1(Title: A title) One.\nDoc 2: Two.")


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (Query("q", "Who?", (), DOCUMENTS), NoGoldAnswerError),
        (Query("q", "Who?", ("Ada",), ()), uplift_labels.NoDocumentsError),
    ],
)
def test_what_cannot_be_labelled_is_not_asked(query, error):
    generator = planted.Planted()
    with pytest.raises(error, match="q"):
        uplift_labels.label(query, query.documents, generator)
    assert not generator.asked


def test_a_refusal_is_a_wrong_answer():
    query = Query("q", "Who?", ("Ada",), DOCUMENTS[:2])
    outputs = [Output("", error="refused"), Output("Ada"), Output("", error="refused")]
    one = uplift_labels.read(query, query.documents, outputs)
    assert one.uplift.tolist() == [1, 0]


def ids(documents) -> str:
    return "".join(each.id for each in documents)


@pytest.mark.parametrize(
    ("p", "chosen", "unranked", "best"),
    [
        ([0.4, 0.9, 0.6, 0.5], "12", "12", "12"),  # 0.5 is not more likely than not
        ([0.6, 0.7, 0.7, 0.1], "120", "012", "12"),  # equal ones in the retriever's order
        ([0.1, 0.2, 0.3, 0.4], "", "", "32"),
        ([0.9, 0.9, 0.9, 0.9], "0123", "0123", "01"),
    ],
)
def test_selection(p, chosen, unranked, best):
    assert ids(document_selection.chosen(DOCUMENTS, p)) == chosen
    assert ids(document_selection.chosen(DOCUMENTS, p, reranks=False)) == unranked
    assert document_selection.chosen((), []) == ()
    with pytest.raises(ValueError, match="4"):
        document_selection.chosen(DOCUMENTS, p[:1])
    assert ids(document_selection.best(DOCUMENTS, p, 2)) == best
    assert ids(document_selection.best(DOCUMENTS, p, 99)) == ids(document_selection.chosen(DOCUMENTS, p, threshold=-1))


def test_the_upper_bound_hands_over_what_helps_best_first():
    assert ids(document_selection.oracle(labelled())) == "21"
    assert document_selection.oracle(labelled(without="Ada Lovelace")) == ()
    assert ids(document_selection.oracle(labelled(alone=("Ada", "x", "Ada")))) == "02"


@pytest.mark.parametrize(
    ("handed", "missing", "right"),
    [(("2", "1", "0"), Missing.NONE, 2), (("1",), Missing.SOME, 1), ((), Missing.ALL, 0), (("0", "3"), Missing.ALL, 0)],
)
def test_what_a_selection_lacks(handed, missing, right):
    found = document_selection.against(labelled(), handed)
    assert (found.missing, found.right, found.chosen, found.helpful) == (missing, right, len(handed), 2)


def test_nothing_can_be_missing_where_nothing_helps():
    assert document_selection.against(labelled(without="Ada Lovelace"), ("0",)).missing == Missing.NOTHING_HELPS


#: Of documents: a score, of which many are equal, and whether it helps.
SCORED = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=9)


@given(SCORED)
def test_the_order_is_the_area_under_the_roc_curve(documents) -> None:
    scores, helps = ([each[place] for each in documents] for place in (0, 1))
    found = document_selection.ordered(planted.labelled(helps), scores)
    if len(set(helps)) == 1:
        assert np.isnan(found)
        return
    metrics = pytest.importorskip("sklearn.metrics")  # which takes a second to import
    assert found == pytest.approx(metrics.roc_auc_score(helps, scores))
    pairs = [(a > b) + 0.5 * (a == b) for a, right in documents if right for b, wrong in documents if not wrong]
    assert found == pytest.approx(sum(pairs) / len(pairs))


def test_as_many_scores_as_documents_are_needed() -> None:
    with pytest.raises(ValueError, match="2"):
        document_selection.ordered(planted.labelled([True, False]), [0.5])
