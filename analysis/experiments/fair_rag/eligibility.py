"""Which questions a fair RAG run can use, as far as this is known before a model is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.rag.fair_rag.utility import FEWEST_USEFUL, unusable
from analysis.rag.protocols import Collection, Query
from analysis.rag.qa_metrics import METRICS, Metric, score_together

from .. import retrievers
from ..experiment import BadParameterError
from .parameters import DEFAULT_METRIC, FairRagParameters

#: No gold answer is one that the metric reads (a rating that is no number of the scale); the key of the reason.
NO_SCORE = "no gold answer that the metric can score"
#: A retriever has no usable scores; the key of the reason.
NO_SCORES = "no usable scores"
#: It is labelled, and nothing can be ranked.
FEW_DOCUMENTS = "fewer than two documents"
#: So many questions are named where some are left out.
NAMED = 10


def reason(query: Query, parameters: FairRagParameters) -> str:
    """Why a query takes no part; "" where it is labelled."""
    if problem := unusable(query):
        return problem
    if not metric(query, parameters).can_score(query.answers):
        return NO_SCORE
    return "" if retrievers.can_score(parameters.retrievers, query) else NO_SCORES


def metric(query: Query, parameters: FairRagParameters) -> Metric:
    """How answers to a query are measured: as the run asks for, else as its data does, else by F1."""
    return METRICS[parameters.metric or query.metric or DEFAULT_METRIC]


def metrics(query: Query, parameters: FairRagParameters) -> list[Metric]:
    """All metrics that answers to a query are shown by: those of its data's task, and that of utility with its kin."""
    chosen = metric(query, parameters).name
    names_asked = chosen, query.metric or chosen
    names = dict.fromkeys(name for metric_name in names_asked for name in score_together(metric_name))
    return [METRICS[name] for name in names if METRICS[name].can_score(query.answers)]


def labelled(collection: Collection, parameters: FairRagParameters) -> list[Query]:
    """The queries that are labelled, in the collection's order."""
    return [query for query in collection.queries if not reason(query, parameters)]


def left_out(collection: Collection, parameters: FairRagParameters) -> dict[str, int]:
    """How many queries cannot take part, by reason, before anything is asked.

    Raises
    ------
    BadParameterError
        If a retriever has scores for none of them.
    """
    without_scores(collection, parameters)
    reasons = [reason(query, parameters) or _few(query) for query in collection.queries]
    return dict(Counter(query_reason for query_reason in reasons if query_reason))


def _few(query: Query) -> str:
    return FEW_DOCUMENTS if len(query.documents) < FEWEST_USEFUL else ""


def without_scores(collection: Collection, parameters: FairRagParameters) -> list[Query]:
    """The queries that are left out because a retriever has no scores for them.

    Raises
    ------
    BadParameterError
        If these are all that could take part: the run would come to nothing.
    """
    without = [query for query in collection.queries if reason(query, parameters) == NO_SCORES]
    if without and not labelled(collection, parameters):
        message = (
            "The retriever “given” needs a score for every document in the data. None of these questions has "
            "one for all (%(named)s). Documents added from other questions have no scores. Choose another "
            "retriever."
        )
        raise BadParameterError(message % {"named": named([query.id for query in without])})
    return without


def named(ids: Sequence[str]) -> str:
    """The first of some questions by name, and how many there are where these are more; alike in every language."""
    listed = ", ".join(ids[:NAMED])
    return f"{listed}, … ({len(ids):,})" if len(ids) > NAMED else listed
