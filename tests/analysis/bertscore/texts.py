"""Texts for the responses of a small study, and what is done with them."""

import numpy as np
import pgtrigger

from analysis.methods.reference_metrics import bertscore_runs
from analysis.models import SimilarityScore
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from tests.analysis.rag import tiny
from writing.models import Response

WORDS = [word for word in tiny.WORDS if not word.startswith("##")]


def text_of(name: str) -> str:
    """A few words that depend on a response's name, with markers."""
    rng = np.random.default_rng(list(name.encode()))
    return f"{' '.join(rng.choice(WORDS, 6))} [0]. {' '.join(rng.choice(WORDS, 4))} [1, 2]"


def set_texts(study: Study, **texts: str) -> Study:
    with pgtrigger.ignore("writing.Response:text_never_changes"):
        for response in Response.objects.filter(study=study):
            text = texts.get(response.external_id.replace("-", "_")) or text_of(response.external_id)
            Response.objects.filter(pk=response.pk).update(text=text)
    return study


def compute(study: Study, **options) -> Run:
    run = lifecycle.wait(bertscore_runs.start(study=study, **options))
    assert (run.state, run.problems, run.error) == (RunState.DONE, [], "")
    return run


def kept() -> dict[tuple[str, str], float | None]:
    return {(row.first, row.second): row.f1 for row in SimilarityScore.objects.all()}
