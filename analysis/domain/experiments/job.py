"""What a stage's work and the tables get: the questions, the parameters, who answers, what was found so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from analysis.rag.generation.ensemble import Ensembling
from analysis.rag.shapes import Collection, Floats, Generator, NoLikelihoodsError, Output, Prompt, Query, Usage
from analysis.stats.chance import stream
from crowdrag.runs.models import Run
from crowdrag.studies.models import Study

from . import findings
from .experiment import Payload

Report = Callable[[int, int, str], None]


class CountedGenerator:
    """A generator whose outputs are counted."""

    def __init__(self, generator: Generator, usage: Usage):
        self._generator = generator
        self._usage = usage

    @property
    def name(self) -> str:
        """The generator's."""
        return self._generator.name

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in their order."""
        outputs = self._generator.generate(prompts)
        # A prompt that occurs twice was answered once, and is counted once: its first output says what it cost.
        self._usage.add(dict(zip(reversed(prompts), reversed(outputs), strict=True)).values())
        return outputs

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Mean log-likelihood per token of each continuation after its prompt."""
        return self._generator.likelihoods(prompts, continuations)

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts as one, where the generator can; see `analysis.rag.generation.ensemble`."""
        if not isinstance(self._generator, Ensembling):
            raise NoLikelihoodsError(f"{self.name} does not say what it expects at every token.")
        output = self._generator.ensemble(prompts, weights)
        self._usage.add([output])
        return output


@dataclass
class Job:
    """One unit of an experiment at work.

    Attributes
    ----------
    run : Run
    collection : Collection
        All questions of the run.
    parameters : object
        The experiment's own, read.
    payload : dict
        The unit's.
    make : callable(str) -> Generator
        Makes a generator by its name ("" : the run's).
    reporter : callable
    usage : Usage
        What was asked of generators.
    files : list of (str, Path, str)
        What is to be published with the unit: name, place, media type.
    """

    run: Run
    collection: Collection
    parameters: Any
    payload: Payload
    make: Callable[[str], Generator]
    reporter: Report = field(default=lambda _done, _total, _message: None, repr=False)
    usage: Usage = field(default_factory=Usage)
    files: list[tuple[str, Path, str]] = field(default_factory=list)

    @property
    def study(self) -> Study:
        """The run's study."""
        return self.run.study

    @cached_property
    def generator(self) -> Generator:
        """The run's generator, counted."""
        return self.model("")

    def model(self, named: str) -> Generator:
        """Return another generator, as a field of kind "model" names it, counted with the rest."""
        return CountedGenerator(self.make(named), self.usage)

    @property
    def queries(self) -> list[Query]:
        """The queries that the unit's payload names (`each_query`), in their order."""
        by_id = self.by_id
        return [by_id[name] for name in self.payload.get("queries", ())]

    @cached_property
    def by_id(self) -> dict[str, Query]:
        """All queries by their ids."""
        return {query.id: query for query in self.collection.queries}

    def found(self, stage: str) -> dict[str, Any]:
        """Return what an earlier stage found, by key.

        Keys that are ids of queries come first, in the collection's order; others after them, in the order of their
        characters. In the first stages nothing says that all of it is there.
        """
        prefix = f"{stage}:"
        kept = {key.removeprefix(prefix): data for key, data in findings.stream(self.run, prefix)}
        return {name: kept[name] for name in self.by_id if name in kept} | kept

    def found_of(self, stage: str, key: str) -> Any:
        """Return one finding of an earlier stage; raises `LookupError` where there is none."""
        return findings.one(self.run, f"{stage}:{key}")

    def rng(self, name: str) -> np.random.Generator:
        """Return the source of chance of this purpose: equal seeds and names draw the same, whatever else is drawn."""
        return stream(self.run.seed, name)

    def report(self, done: int, total: int, message: str = "") -> None:
        """Tell how far the unit is; raises `kinds.Cancelled` when it is time to stop: let it pass."""
        self.reporter(done, total, message)

    def publish(self, name: str, path: Path, media_type: str = "application/octet-stream") -> None:
        """Have a finished local file published as the run's, with what the unit found."""
        self.files.append((name, path, media_type))
