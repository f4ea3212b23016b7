"""Registration of the experiment: parameters, stages, tables and figures."""

from ..experiment import Experiment, register
from . import compute, questions
from .costs import estimate
from .figures import FIGURES
from .methods_paragraph import methods
from .parameters import UpliftRagParameters
from .stages import STAGES
from .tables import TABLES

EXPERIMENT = Experiment(
    name="uplift",
    title="Uplift",
    about=(
        "Which documents help a model beyond its own knowledge? The experiment compares each document "
        "alone with no document, and trains a reranker to find documents that help. It then compares "
        "answers with those of other methods on the same questions."
    ),
    parameters=UpliftRagParameters,
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
    """Register the experiment; called once when the app is ready."""
    register(EXPERIMENT)
