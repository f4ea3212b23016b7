"""The settings of a run of a model judge, as stored with the run, and its cost estimate."""

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
# The estimate builds at most this many requests, an evenly spaced sample.
RECKONED: Final = 1000


@dataclass(frozen=True)
class JudgeOrder:
    """The settings that judging and injection tests share: plain values and keys of rows."""

    endpoint: int
    prompt: int
    source: int
    inference: str = Inference.COMBINED
    justify: bool = False
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(PARAMETERS))
    seed: int = 0

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return the settings of a run."""
        return cls(**run.parameters)

    @property
    def kept(self) -> dict[str, Any]:
        """The settings as stored with a run."""
        return {name: str(value) if isinstance(value, str) else value for name, value in asdict(self).items()}

    @property
    def digest(self) -> str:
        """A short hash that identifies the settings."""
        return hashlib.sha256(json.dumps(self.kept, sort_keys=True).encode()).hexdigest()[:16]

    def judge(self) -> Judge:
        """Return the judge."""
        return Judge(
            endpoint=Endpoint.objects.get(pk=self.endpoint),
            prompt=JudgingPrompt.objects.get(pk=self.prompt),
            justify=self.justify,
            parameters=self.parameters,
        )

    def campaign(self, study: Study) -> Campaign:
        """Return the campaign whose items and questions are used."""
        return Campaign.objects.select_related("study", "instructions").get(pk=self.source, study=study)


@dataclass(frozen=True)
class Order(JudgeOrder):
    """Settings of a judging run.

    `which` selects the items, `n` is the number of pairs of a sample, `both` is whether each pair is judged in both
    orders, `repeats` is how often each request is made (the first answer counts).
    """

    which: str = ItemSelection.ALL
    n: int | None = None
    both: bool = True
    repeats: int = 1

    def things(self, study: Study) -> list[Stimulus]:
        """Return the stimuli to judge, in order."""
        return stimuli.select_stimuli(
            source=self.campaign(study), which=self.which, n=self.n, both=self.both, seed=self.seed
        )


@dataclass(frozen=True)
class Sample:
    """The exact prompts for one item, shown before the run is started."""

    query: str
    texts: tuple[str, ...]


def forecast(*, study: Study, order: Order) -> Forecast:
    """Estimate the cost of an order. Nothing is sent."""
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
    """Return the exact prompts for the first item; None if there is none."""
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
    """Return at most `most` of these, evenly spaced."""
    if len(things) <= most:
        return list(things)
    return [things[i * len(things) // most] for i in range(most)]
