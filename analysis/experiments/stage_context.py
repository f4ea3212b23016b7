"""What a stage's work and the tables get: the questions, the parameters, who answers, what was found so far."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from analysis.rag.generation.model import EnsembleGenerator
from analysis.rag.protocols import (
    Collection,
    Floats,
    Generator,
    NoLikelihoodsError,
    Output,
    Prompt,
    Query,
    Scored,
    ScoringGenerator,
    Usage,
)
from analysis.stats.random_streams import named_rng
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from . import unit_results
from .experiment import Payload

Report = Callable[[int, int, str], None]


@runtime_checkable
class StreamingGenerator(Protocol):
    """A generator that reports its answers as they arrive."""

    def with_callback(self, on_answers: Callable[[int], None]) -> Generator:
        """Return one that calls `on_answers` with the number of new answers; what it raises ends the run."""
        ...


class CountedGenerator:
    """A generator whose outputs are counted.

    Parameters
    ----------
    generator : Generator
    usage : Usage
    begin : callable(int), optional
        Is told how many answers are asked for, before they are.
    """

    def __init__(self, generator: Generator, usage: Usage, begin: Callable[[int], None] = lambda _answers: None):
        self._generator = generator
        self._usage = usage
        self._begin = begin

    @property
    def name(self) -> str:
        """The generator's."""
        return self._generator.name

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in their order."""
        self._begin(len(set(prompts)))
        outputs = self._generator.generate(prompts)
        # A prompt that occurs twice was answered once, and is counted once: its first output says what it cost.
        self._usage.add(dict(zip(reversed(prompts), reversed(outputs), strict=True)).values())
        return outputs

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Mean log-likelihood per token of each continuation after its prompt."""
        pairs = [pair for pair in zip(prompts, continuations, strict=True) if pair[1].strip()]
        self._begin(len(set(pairs)))
        if not isinstance(self._generator, ScoringGenerator):
            likelihoods = self._generator.likelihoods(prompts, continuations)
            self._usage.calls += len(set(pairs))
            return likelihoods
        return self._scored(self._generator, prompts, continuations).values

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Scored:
        """As `likelihoods`, with what it took; see `analysis.rag.protocols.ScoringGenerator`."""
        if not isinstance(self._generator, ScoringGenerator):
            raise NoLikelihoodsError(f"{self.name} does not return the probability of a given text.")
        self._begin(len({pair for pair in zip(prompts, continuations, strict=True) if pair[1].strip()}))
        return self._scored(self._generator, prompts, continuations)

    def _scored(self, generator: ScoringGenerator, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Scored:
        scored = generator.score(prompts, continuations)
        pairs = zip(prompts, continuations, scored.outputs, strict=True)
        # What occurs twice was asked once; an empty text, not at all.
        took = {(prompt, text): output for prompt, text, output in reversed([*pairs]) if text.strip()}
        self._usage.add(took.values())
        return scored

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts as one, where the generator can; see `analysis.rag.generation.model`."""
        if not isinstance(self._generator, EnsembleGenerator):
            raise NoLikelihoodsError(f"{self.name} does not return probabilities for every token.")
        output = self._generator.ensemble(prompts, weights)
        self._usage.add([output])
        return output


@dataclass
class StageContext:
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
    _last_report: tuple[int, int, str] = field(default=(0, 0, ""), init=False, repr=False)
    _by_answer: bool = field(default=False, init=False, repr=False)
    _call_count: int = field(default=0, init=False, repr=False)
    _answered: int = field(default=0, init=False, repr=False)

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
        generator = self.make(named)
        if isinstance(generator, StreamingGenerator):
            generator = generator.with_callback(self._on_answers)
        return CountedGenerator(generator, self.usage, self._begin)

    @property
    def queries(self) -> list[Query]:
        """The queries that the unit's payload names (`each_query`), in their order."""
        by_id = self.by_id
        return [by_id[name] for name in self.payload.get("queries", ())]

    @cached_property
    def by_id(self) -> dict[str, Query]:
        """All queries by their ids."""
        return {query.id: query for query in self.collection.queries}

    def results(self, stage: str) -> dict[str, Any]:
        """Return the results of an earlier stage, by key.

        Keys that are ids of queries come first, in the collection's order; others after them, in the order of their
        characters. In the first stages nothing says that all of it is there.
        """
        prefix = f"{stage}:"
        kept = {key.removeprefix(prefix): data for key, data in unit_results.stream(self.run, prefix)}
        return {name: kept[name] for name in self.by_id if name in kept} | kept

    def results_of(self, stage: str, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Yield names with the results of an earlier stage, in the names' order, without holding all of them."""
        prefix = f"{stage}:"
        for key, data in unit_results.of_keys(self.run, [f"{prefix}{name}" for name in names]):
            yield key.removeprefix(prefix), data

    def result(self, stage: str, key: str) -> Any:
        """Return one result of an earlier stage; raises `LookupError` where there is none."""
        return unit_results.one(self.run, f"{stage}:{key}")

    def rng(self, name: str) -> np.random.Generator:
        """Return the source of chance of this purpose: equal seeds and names draw the same, whatever else is drawn."""
        return named_rng(self.run.seed, name)

    def report(self, done: int, total: int, message: str = "", *, by_answer: bool = False) -> None:
        """Tell how far the unit is; raises `kinds.RunCancelledError` when it is time to stop: let it pass.

        Without steps (`total` is 0), or never, what is asked of generators is told answer by answer.

        Parameters
        ----------
        by_answer : bool
            Whether each answer that comes from now on is a step of these.
        """
        self._last_report, self._by_answer, self._answered = (done, total, message), by_answer, 0
        self.look()

    def look(self) -> None:
        """Report the progress of the unit; raises `kinds.RunCancelledError` when the run is cancelled."""
        done, total, message = self._last_report
        self.reporter(min(done + self._answered, total) if self._by_answer else done, total, message)

    def _begin(self, answers: int) -> None:
        """Note how many answers are requested."""
        if not self._by_answer:
            self._call_count, self._answered = answers, 0

    def _on_answers(self, answers: int) -> None:
        """Count new answers."""
        self._answered += answers
        if self._by_answer or self._last_report[1]:
            self.look()
        else:
            self.reporter(min(self._answered, self._call_count), self._call_count, "Generating answers")

    def publish(self, name: str, path: Path, media_type: str = "application/octet-stream") -> None:
        """Have a finished local file published as the run's, with what the unit found."""
        self.files.append((name, path, media_type))
