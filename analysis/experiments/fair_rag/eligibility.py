"""Which questions a fair RAG run can use, as far as known before a model is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.rag.fair_rag.utility import FEWEST_USEFUL, unusable
from analysis.rag.protocols import Collection, Query
from analysis.rag.qa_metrics import METRICS, Metric, score_together

from .. import retrievers
from ..experiment import BadParameterError
from .parameters import DEFAULT_METRIC, FairRagParameters

#: Key of a reason: the metric cannot read any gold answer (a rating that is not a number on the scale, for example).
NO_SCORE = "no gold answer that the metric can score"
#: Key of a reason: a retriever has no usable scores.
NO_SCORES = "no usable scores"
#: Key of a reason: the query is labelled, but there is nothing to rank.
FEW_DOCUMENTS = "fewer than two documents"
#: Maximum number of left-out questions listed by name.
NAMED = 10


def reason(query: Query, parameters: FairRagParameters) -> str:
    """Why a query is left out; "" if it is labelled."""
    if problem := unusable(query):
        return problem
    if not metric(query, parameters).can_score(query.answers):
        return NO_SCORE
    return "" if retrievers.can_score(parameters.retrievers, query) else NO_SCORES


def metric(query: Query, parameters: FairRagParameters) -> Metric:
    """The metric for answers to a query: the run's if set, else the data's, else F1."""
    return METRICS[parameters.metric or query.metric or DEFAULT_METRIC]


def metrics(query: Query, parameters: FairRagParameters) -> list[Metric]:
    """All metrics reported for a query: those of its data's task, and the utility metric with related ones."""
    chosen = metric(query, parameters).name
    names_asked = chosen, query.metric or chosen
    names = dict.fromkeys(name for metric_name in names_asked for name in score_together(metric_name))
    return [METRICS[name] for name in names if METRICS[name].can_score(query.answers)]


def labelled(collection: Collection, parameters: FairRagParameters) -> list[Query]:
    """The queries to label, in the collection's order."""
    return [query for query in collection.queries if not reason(query, parameters)]


def left_out(collection: Collection, parameters: FairRagParameters) -> dict[str, int]:
    """The number of queries that cannot take part, by reason, before anything is generated.

    Raises
    ------
    BadParameterError
        If a retriever has no scores for any of them.
    """
    without_scores(collection, parameters)
    reasons = [reason(query, parameters) or _few(query) for query in collection.queries]
    return dict(Counter(query_reason for query_reason in reasons if query_reason))


def _few(query: Query) -> str:
    return FEW_DOCUMENTS if len(query.documents) < FEWEST_USEFUL else ""


def without_scores(collection: Collection, parameters: FairRagParameters) -> list[Query]:
    """The queries left out because a retriever has no scores for them.

    Raises
    ------
    BadParameterError
        If all eligible queries lack scores: the run would have no results.
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
    """The first names of some questions, and their number if there are more; the same in all languages."""
    listed = ", ".join(ids[:NAMED])
    return f"{listed}, … ({len(ids):,})" if len(ids) > NAMED else listed
