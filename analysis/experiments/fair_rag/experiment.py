"""The experiment as the frame knows it: how its parameters are asked for, its stages and tables."""

from django.utils.translation import gettext_lazy as _

from analysis.rag.qa_metrics import METRICS

from .. import entailment_models, experiment, retrievers
from ..experiment import Experiment, ParameterField, Stage
from . import compute, eligibility, stages
from .costs import estimate
from .figures import FIGURES
from .methods_paragraph import methods
from .parameters import FairRagParameters
from .tables import METRICS as SAID
from .tables import TABLES

WORDS = {entailment_models.GENERATOR: _("the model that answers"), entailment_models.NONE: _("not measured")}

FIELDS = (
    ParameterField(
        "retrievers",
        _("Retrievers"),
        "choices",
        _("bm25 weighs words by a question's own documents, bm25:all by all; given: the scores of the data."),
        choices=tuple((name, name) for name in retrievers.offered()),
    ),
    ParameterField(
        "alphas", _("Alpha"), "numbers", _("How fair: 0 is random, 8 almost always the same ranking."), 0, 64
    ),
    ParameterField("samples", _("Rankings"), "integer", _("Sampled for each question and alpha."), 2, 10_000),
    ParameterField("k", _("Documents a ranking"), "integer", _("What the model reads of each."), 1, 100),
    ParameterField(
        "lists_per_query",
        _("Lists a question"),
        "integer",
        _("At most so many distinct lists are generated; 0 for all. Fewer cost less, and their error stands beside."),
        0,
        100_000,
    ),
    ParameterField(
        "metric",
        _("Metric of answers"),
        "choice",
        choices=(("", _("the data's own")), *((name, SAID.get(name, name)) for name in METRICS)),
    ),
    ParameterField(
        "entailment",
        _("Attribution by"),
        "choice",
        _("An entailment model, or the model itself, asked for yes or no, which takes more calls than all else."),
        choices=tuple((name, WORDS.get(name, name)) for name in entailment_models.offered()),
    ),
    ParameterField(
        "claim",
        _("What must follow"),
        "choice",
        choices=(("answer", _("the answer")), ("question_and_answer", _("question and answer"))),
        is_advanced=True,
    ),
    ParameterField(
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
    ParameterField(
        "instruction", _("Instruction"), "text", _("What stands before each question."), most=2000, is_advanced=True
    ),
    ParameterField("max_tokens", _("Tokens an answer"), "integer", "", 1, 4096, is_advanced=True),
    ParameterField(
        "most_words", _("Words a document"), "integer", _("Longer ones are cut; 0: whole."), 0, 10_000, is_advanced=True
    ),
    ParameterField(
        "resamples", _("Resamples"), "integer", _("Of questions, for intervals."), 10, 100_000, is_advanced=True
    ),
)

EXPERIMENT = Experiment(
    name="fair",
    title=_("Fair ranking"),
    about=_(
        "What do fairer rankings cost? Rankings are drawn more or less at random, the model answers with each, and one "
        "sees how evenly documents are shown, how good the answers are, and whom they follow from."
    ),
    parameters=FairRagParameters,
    fields=FIELDS,
    collections=("study", "qa", "lamp", "bank"),
    stages=(
        Stage(stages.LABELS, _("Which documents are useful"), stages.label, stages.label_units),
        Stage(stages.RANKINGS, _("Rankings and their answers"), stages.measure),
    ),
    tables=TABLES,
    figures=FIGURES,
    compute=compute.tables,
    estimate=estimate,
    methods=methods,
    left_out=eligibility.left_out,
)  # fmt: skip


def register_experiment() -> None:
    """Make the experiment known; called once when the app is ready."""
    experiment.register(EXPERIMENT)
