"""Registration of the self-preference experiment."""

from ..experiment import Experiment, register
from . import compute
from .costs import estimate
from .figures import FIGURES
from .methods_paragraph import methods
from .parameters import SelfPreferenceParameters
from .stages import STAGES
from .tables import TABLES

EXPERIMENT = Experiment(
    name="self_preference",
    title="Self-preference",
    about=(
        "Does a model prefer passages that it wrote itself? It rates true and false passages by people "
        "and models, and answers questions from two of them in both orders. The passage it uses shows "
        "whether its choice depends on author, order or truth."
    ),
    parameters=SelfPreferenceParameters,
    collections=("passages", "responses"),
    stages=STAGES,
    tables=TABLES,
    figures=FIGURES,
    compute=compute.tables,
    estimate=estimate,
    methods=methods,
)


def register_experiment() -> None:
    """Register it; called once when the app is ready."""
    register(EXPERIMENT)
