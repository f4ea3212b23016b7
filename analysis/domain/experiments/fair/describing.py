"""The experiment as the frame knows it: how its parameters are asked for, its stages and tables."""

from django.utils.translation import gettext_lazy as _

from analysis.rag.answers import METRICS

from ...captions.fair import METRICS as SAID
from .. import entailing, experiment, retrieving
from ..experiment import Experiment, Field, Stage
from . import taking, working
from .estimating import estimate
from .methods import methods
from .parameters import Parameters
from .tabulating import tables

WORDS = {entailing.GENERATOR: _("the model that answers"), entailing.NONE: _("not measured")}

FIELDS = (
    Field(
        "retrievers",
        _("Retrievers"),
        "choices",
        _("bm25 weighs words by a question's own documents, bm25:all by all; given: the scores of the data."),
        choices=tuple((name, name) for name in retrieving.offered()),
    ),
    Field("alphas", _("Alpha"), "numbers", _("How fair: 0 is random, 8 almost always the same ranking."), 0, 64),
    Field("samples", _("Rankings"), "integer", _("Sampled for each question and alpha."), 2, 10_000),
    Field("k", _("Documents a ranking"), "integer", _("What the model reads of each."), 1, 100),
    Field(
        "lists_per_query",
        _("Lists a question"),
        "integer",
        _("At most so many distinct lists are generated; 0 for all. Fewer cost less, and their error stands beside."),
        0,
        100_000,
    ),
    Field(
        "metric",
        _("Metric of answers"),
        "choice",
        choices=(("", _("the data's own")), *((name, SAID.get(name, name)) for name in METRICS)),
    ),
    Field(
        "entailment",
        _("Attribution by"),
        "choice",
        _("An entailment model, or the model itself, asked for yes or no, which takes more calls than all else."),
        choices=tuple((name, WORDS.get(name, name)) for name in entailing.offered()),
    ),
    Field(
        "claim",
        _("What must follow"),
        "choice",
        choices=(("answer", _("the answer")), ("question_and_answer", _("question and answer"))),
        is_advanced=True,
    ),
    Field(
        "bounds",
        _("Bounds"),
        "choice",
        _("What exposure is normalised by. The authors' code and the paper's equations differ."),
        choices=(
            ("published", _("the authors' code")),
            ("definition", _("the paper's equations")),
            ("infinite", _("infinitely many documents")),
            ("tight", _("values that rankings can reach")),
        ),
        is_advanced=True,
    ),
    Field("instruction", _("Instruction"), "text", _("What stands before each question."), most=2000, is_advanced=True),
    Field("max_tokens", _("Tokens an answer"), "integer", "", 1, 4096, is_advanced=True),
    Field(
        "most_words", _("Words a document"), "integer", _("Longer ones are cut; 0: whole."), 0, 10_000, is_advanced=True
    ),
    Field("resamples", _("Resamples"), "integer", _("Of questions, for intervals."), 10, 100_000, is_advanced=True),
)

EXPERIMENT = Experiment(
    name="fair",
    title=_("Fair ranking"),
    about=_(
        "What do fairer rankings cost? Rankings are drawn more or less at random, the model answers with each, and one "
        "sees how evenly documents are shown, how good the answers are, and whom they follow from."
    ),
    parameters=Parameters,
    fields=FIELDS,
    collections=("study", "qa", "lamp", "bank"),
    stages=(
        Stage(working.LABELS, _("Which documents are useful"), working.label, working.label_units),
        Stage(working.RANKINGS, _("Rankings and their answers"), working.measure),
    ),
    tables=tables,
    table_names=(
        "fair_tradeoff", "fair_intervals", "fair_alphas", "fair_summary", "fair_metrics", "fair_curves", "fair_queries",
        "fair_labels", "fair_examples", "fair_left_out", "fair_costs",
    ),
    estimate=estimate,
    methods=methods,
    left_out=taking.left_out,
)  # fmt: skip


def register() -> None:
    """Make the experiment known; called once when the app is ready."""
    experiment.register(EXPERIMENT)
