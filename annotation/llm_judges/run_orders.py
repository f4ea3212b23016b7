"""An order of judging by a model, as stored with its run, and its estimate."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

from crowdrag.jobs.models import Run
from crowdrag.llm import forecasts
from crowdrag.llm.forecasts import Forecast
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study

from ..enums import Inference
from ..models import Campaign, JudgingPrompt
from . import stimuli
from .judge import PARAMETERS, Judge, questions_of_campaign
from .stimuli import ItemSelection, Stimulus

PURPOSE: Final = "judge"
# So many requests are made to reckon what an order costs; of more, an even sample of as many.
RECKONED: Final = 1000


@dataclass(frozen=True)
class JudgeOrder:
    """Who is asked, told what: what judging and measuring have in common. Plain values and keys of rows."""

    endpoint: int
    prompt: int
    source: int
    inference: str = Inference.COMBINED
    justify: bool = False
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(PARAMETERS))
    seed: int = 0

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return what a run was asked for."""
        return cls(**run.parameters)

    @property
    def kept(self) -> dict[str, Any]:
        """What is kept of it with a run."""
        return {name: str(value) if isinstance(value, str) else value for name, value in asdict(self).items()}

    @property
    def digest(self) -> str:
        """What tells one order from another."""
        return hashlib.sha256(json.dumps(self.kept, sort_keys=True).encode()).hexdigest()[:16]

    def judge(self) -> Judge:
        """Return who is to judge."""
        return Judge(
            endpoint=Endpoint.objects.get(pk=self.endpoint),
            prompt=JudgingPrompt.objects.get(pk=self.prompt),
            justify=self.justify,
            parameters=self.parameters,
        )

    def campaign(self, study: Study) -> Campaign:
        """Return the campaign whose items and questions are asked again."""
        return Campaign.objects.select_related("study", "instructions").get(pk=self.source, study=study)


@dataclass(frozen=True)
class Order(JudgeOrder):
    """What judging asks for.

    `which` says which items, `n` how many pairs of a sample, `both` whether each pair comes in both orders, `repeats`
    how often each is asked (the first answer counts).
    """

    which: str = ItemSelection.BOTH_ORDERS
    n: int | None = None
    both: bool = True
    repeats: int = 1

    def things(self, study: Study) -> list[Stimulus]:
        """Return what is judged, in order."""
        return stimuli.select_stimuli(
            source=self.campaign(study), which=self.which, n=self.n, both=self.both, seed=self.seed
        )


@dataclass(frozen=True)
class Sample:
    """What exactly is asked of one item: for whoever orders it to read."""

    query: str
    texts: tuple[str, ...]


def forecast(*, study: Study, order: Order) -> Forecast:
    """Return what an order would come to; nothing is sent."""
    things = order.things(study)
    judge, questions = order.judge(), questions_of_campaign(order.campaign(study))
    parts = questions.parts(order.inference)
    per_thing = len(parts) * order.repeats
    some = evenly_spaced(things, max(1, RECKONED // max(1, per_thing)))
    requests = [
        judge.request(shown=shown, campaign_questions=questions, questions=part, repeat=repeat)
        for shown in stimuli.show_stimuli(some).values()
        for part in parts
        for repeat in range(order.repeats)
    ]
    return forecasts.forecast(
        study=study,
        endpoint=judge.endpoint,
        requests=requests,
        purpose=PURPOSE,
        count=len(things),
        calls=len(things) * per_thing,
    )


def sample(*, study: Study, order: Order) -> Sample | None:
    """Return what is asked of the first item, word for word; None if there is none."""
    things = order.things(study)[:1]
    if not things:
        return None
    judge, questions = order.judge(), questions_of_campaign(order.campaign(study))
    shown = stimuli.show_stimuli(things)[things[0]]
    texts = tuple(
        judge.text(shown=shown, campaign_questions=questions, questions=part)
        for part in questions.parts(order.inference)
    )
    return Sample(shown.query, texts)


def evenly_spaced(things: Sequence[Stimulus], most: int) -> list[Stimulus]:
    """Return up to so many things, evenly spaced."""
    if len(things) <= most:
        return list(things)
    return [things[i * len(things) // most] for i in range(most)]
