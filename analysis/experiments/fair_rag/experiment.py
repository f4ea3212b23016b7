"""Registration of the experiment: parameters, stages, tables and figures."""

from .. import experiment
from ..experiment import Experiment, Stage
from . import compute, eligibility, stages
from .costs import estimate
from .figures import FIGURES
from .methods_paragraph import methods
from .parameters import FairRagParameters
from .tables import TABLES

EXPERIMENT = Experiment(
    name="fair",
    title="Fair ranking",
    about=("What do fairer rankings cost? The experiment samples rankings with different amounts of "
"randomness, and the model answers with each. It measures how evenly documents are exposed, how "
"good the answers are, and which documents support them."),
    parameters=FairRagParameters,
    collections=("study", "qa", "lamp", "bank"),
    stages=(
        Stage(stages.LABELS, "Labelling useful documents", stages.label, stages.label_units),
        Stage(stages.RANKINGS, "Answering with rankings", stages.measure),
    ),
    tables=TABLES,
    figures=FIGURES,
    compute=compute.tables,
    estimate=estimate,
    methods=methods,
    left_out=eligibility.left_out,
)  # fmt: skip


def register_experiment() -> None:
    """Register the experiment; called once when the app is ready."""
    experiment.register(EXPERIMENT)
