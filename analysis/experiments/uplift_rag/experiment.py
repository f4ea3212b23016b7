"""The experiment as the frame knows it: how its parameters are asked for, its stages and tables."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import LazyText
from ..experiment import Experiment, ParameterField, register
from . import compute, questions
from .costs import estimate
from .figures import FIGURES
from .methods_paragraph import methods
from .parameters import BOUNDS, LISTS, LONGEST, UpliftRagParameters
from .stages import STAGES
from .tables import TABLES, TITLES


def _number(
    name: str, label: LazyText, help_text: LazyText = "", *, is_whole: bool = True, is_advanced: bool = True
) -> ParameterField:
    least, most = BOUNDS[name]
    return ParameterField(
        name, label, "integer" if is_whole else "number", help_text, least, most, is_advanced=is_advanced
    )


def _several(name: str, label: LazyText, help_text: LazyText) -> ParameterField:
    return ParameterField(
        name, label, "choices", help_text, choices=tuple((option, TITLES[option]) for option in LISTS[name])
    )


FIELDS = (
    ParameterField(
        "retriever", _("Retriever"), "text", _("bm25, bm25:all, given, dense:MODEL or splade:MODEL."), most=LONGEST
    ),
    _number("retrieve", _("Documents retrieved"), _("Each is labelled by a prompt of its own."), is_advanced=False),
    _number("feed", _("Documents handed over"), _("By methods with a fixed number."), is_advanced=False),
    ParameterField(
        "metric",
        _("Uplift measured by"),
        "choice",
        _("Answers are scored by both in any case."),
        choices=(("f1", _("F1")), ("em", _("Exact match"))),
    ),
    _several("methods", _("Compared with"), _("Standard RAG is always among them.")),
    _several(
        "ablations",
        _("Without its parts"),
        _(
            "Each of the losses trains rerankers of its own. Selection: the likeliest, as many as standard RAG; "
            "reranking: those selected, in the retriever's order."
        ),
    ),
    _number("splits", _("Splits"), _("Each question is tested by what the other splits trained."), is_advanced=False),
    ParameterField(
        "encoder", _("Encoder"), "text", _("That rerankers start from; empty: the first offered."), most=LONGEST
    ),
    _number("epochs", _("Epochs"), is_advanced=False),
    _number(
        "learning_rate",
        _("Learning rate"),
        _("The paper's is that of roberta-base on 80,000 questions; few questions and small encoders need more."),
        is_whole=False,
        is_advanced=False,
    ),
    ParameterField(
        "other", _("Exchange documents with"), "model", _("Another model: what helps one is given to the other.")
    ),
    ParameterField(
        "trained",
        _("Rerankers of an earlier run"),
        "text",
        _("Its key: then none are trained. Leave the ablations of losses out."),
        most=LONGEST,
        is_advanced=True,
    ),
    ParameterField(
        "embedder",
        _("Sentence encoder"),
        "text",
        _("For methods that compare questions; empty: the first that is offered."),
        most=LONGEST,
        is_advanced=True,
    ),
    ParameterField(
        "cross_encoder",
        _("Trained cross-encoder"),
        "text",
        _("For the plain reranker; empty: one is trained on the data."),
        most=LONGEST,
        is_advanced=True,
    ),
    _number("batch", _("Questions a step")),
    _number("longest", _("Tokens of a question with a document")),
    _number("warm_up", _("Warm-up"), _("Share of steps in which the learning rate rises."), is_whole=False),
    _number("patience", _("Patience"), _("Epochs without a lower held-out loss before it stops; 0: never.")),
    ParameterField(
        "precision",
        _("Precision of training"),
        "choice",
        _("Half computes in bfloat16 and keeps weights in full: for GPUs."),
        choices=(("full", _("full")), ("half", _("half"))),
        is_advanced=True,
    ),
    _number("weight_point", _("Weight of the pointwise loss"), is_whole=False),
    _number("weight_pair", _("Weight of the pairwise loss"), is_whole=False),
    _number("threshold", _("Probability to exceed"), is_whole=False),
    _number("max_tokens", _("Tokens an answer")),
    _number("division", _("Division"), _("Another number, another division into splits.")),
    _number("resamples", _("Resamples"), _("Of questions, for intervals.")),
)

EXPERIMENT = Experiment(
    name="uplift",
    title=_("Uplift"),
    about=_(
        "Which documents help a model beyond what it knows? Each is tried alone against no document, a reranker learns "
        "to find those that help, and its answers stand beside those of other methods on the same questions."
    ),
    parameters=UpliftRagParameters,
    fields=FIELDS,
    collections=("study", "qa", "bank"),
    stages=STAGES,
    tables=TABLES,
    figures=FIGURES,
    compute=compute.tables,
    estimate=estimate,
    methods=methods,
    folds=questions.fold_of,
    left_out=lambda collection, _own: questions.left_out(collection),
)


def register_experiment() -> None:
    """Register it; called once when the app is ready."""
    register(EXPERIMENT)
