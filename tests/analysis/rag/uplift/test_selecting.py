"""How often what helps stands ahead: against scikit-learn, and a count of pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from analysis.rag.uplift import selecting

from .planted import labelled

#: Of documents: a score, of which many are equal, and whether it helps.
DOCUMENTS = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=9)


@given(DOCUMENTS)
def test_the_order_is_the_area_under_the_roc_curve(documents) -> None:
    scores, helps = ([each[place] for each in documents] for place in (0, 1))
    found = selecting.ordered(labelled(helps), scores)
    if len(set(helps)) == 1:
        assert np.isnan(found)
        return
    assert found == pytest.approx(roc_auc_score(helps, scores))
    pairs = [(a > b) + 0.5 * (a == b) for a, right in documents if right for b, wrong in documents if not wrong]
    assert found == pytest.approx(sum(pairs) / len(pairs))


def test_as_many_scores_as_documents_are_needed() -> None:
    with pytest.raises(ValueError, match="2"):
        selecting.ordered(labelled([True, False]), [0.5])
