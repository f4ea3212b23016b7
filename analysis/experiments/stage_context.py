"""The context of stages and tables: questions, parameters, generators and earlier results."""

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
    RollingGenerator,
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
        """Return a copy that calls `on_answers` with the number of new answers. An exception from it ends the run."""
        ...


class CountedGenerator:
    """A generator whose outputs are counted.

    Parameters
    ----------
    generator : Generator
    usage : Usage
    begin : callable(int), optional
        Called with the number of requested answers, before they are generated.
    """

    def __init__(self, generator: Generator, usage: Usage, begin: Callable[[int], None] = lambda _answers: None):
        self._generator = generator
        self._usage = usage
        self._begin = begin

    @property
    def name(self) -> str:
        """The generator's name."""
        return self._generator.name

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in their order."""
        self._begin(len(set(prompts)))
        outputs = self._generator.generate(prompts)
        # A duplicate prompt was answered once and is counted once: its first output has the cost.
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
        """Like `likelihoods`, with the usage; see `analysis.rag.protocols.ScoringGenerator`."""
        if not isinstance(self._generator, ScoringGenerator):
            raise NoLikelihoodsError(f"{self.name} does not return the probability of a given text.")
        self._begin(len({pair for pair in zip(prompts, continuations, strict=True) if pair[1].strip()}))
        return self._scored(self._generator, prompts, continuations)

    def _scored(self, generator: ScoringGenerator, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Scored:
        scored = generator.score(prompts, continuations)
        pairs = zip(prompts, continuations, scored.outputs, strict=True)
        # Duplicates were requested once; empty texts, not at all.
        took = {(prompt, text): output for prompt, text, output in reversed([*pairs]) if text.strip()}
        self._usage.add(took.values())
        return scored

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts as one ensemble, if the generator can; see `analysis.rag.generation.model`."""
        if not isinstance(self._generator, EnsembleGenerator):
            raise NoLikelihoodsError(f"{self.name} does not return probabilities for every token.")
        output = self._generator.ensemble(prompts, weights)
        self._usage.add([output])
        return output


class CountedRollingGenerator(CountedGenerator):
    """A generator that takes further prompts while it answers others, and whose outputs are counted."""

    def __init__(
        self, generator: Generator, rolling: RollingGenerator, usage: Usage, begin: Callable[[int], None]
    ) -> None:
        super().__init__(generator, usage, begin)
        self._rolling = rolling

    def roll(self, prompts: Iterable[Prompt | None], on_output: Callable[[int, Output], None]) -> None:
        """Answer prompts as they come; see `analysis.rag.protocols.RollingGenerator`."""
        sent: list[Prompt] = []
        outputs: dict[Prompt, Output] = {}

        def noted() -> Iterator[Prompt | None]:
            for prompt in prompts:
                if prompt is not None:
                    sent.append(prompt)
                yield prompt

        def note(number: int, output: Output) -> None:
            # A duplicate prompt was answered once and is counted once: the output that was not stored has the cost.
            prompt = sent[number]
            if prompt not in outputs or not output.is_stored:
                outputs[prompt] = output
            on_output(number, output)

        self._rolling.roll(noted(), note)
        self._usage.add(outputs.values())


@dataclass
class StageContext:
    """The context of one unit's work.

    Attributes
    ----------
    run : Run
    collection : Collection
        All questions of the run.
    parameters : object
        The experiment's own parameters, parsed.
    payload : dict
        The unit's payload.
    make : callable(str) -> Generator
        Makes a generator by its name ("": the run's).
    reporter : callable
    usage : Usage
        Usage of generators so far.
    files : list of (str, Path, str)
        Files to publish with the unit: name, path, media type.
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
        """Return another generator by the value of a field of kind "model"; its calls are counted too."""
        generator = self.make(named)
        if isinstance(generator, StreamingGenerator):
            generator = generator.with_callback(self._on_answers)
        if isinstance(generator, RollingGenerator):
            return CountedRollingGenerator(generator, generator, self.usage, self._begin)
        return CountedGenerator(generator, self.usage, self._begin)

    @property
    def queries(self) -> list[Query]:
        """The queries that the unit's payload names (`each_query`), in order."""
        by_id = self.by_id
        return [by_id[name] for name in self.payload.get("queries", ())]

    @cached_property
    def by_id(self) -> dict[str, Query]:
        """All queries by id."""
        return {query.id: query for query in self.collection.queries}

    def results(self, stage: str) -> dict[str, Any]:
        """Return the results of an earlier stage, by key.

        Ids of queries come first, in the collection's order; other keys follow in code point order. Before all units of
        the stage are done, results may be missing.
        """
        prefix = f"{stage}:"
        kept = {key.removeprefix(prefix): data for key, data in unit_results.stream(self.run, prefix)}
        return {name: kept[name] for name in self.by_id if name in kept} | kept

    def results_of(self, stage: str, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Yield names with the results of an earlier stage, in the names' order, without loading all of them."""
        prefix = f"{stage}:"
        for key, data in unit_results.of_keys(self.run, [f"{prefix}{name}" for name in names]):
            yield key.removeprefix(prefix), data

    def result(self, stage: str, key: str) -> Any:
        """Return one result of an earlier stage; raises `LookupError` if there is none."""
        return unit_results.one(self.run, f"{stage}:{key}")

    def rng(self, name: str) -> np.random.Generator:
        """Return a random generator for this purpose. It depends only on the run's seed and the name."""
        return named_rng(self.run.seed, name)

    def report(self, done: int, total: int, message: str = "", *, by_answer: bool = False) -> None:
        """Report the unit's progress. Raises `kinds.RunCancelledError` if the run is cancelled; do not catch it.

        Without steps (`total` is 0), or without any report, progress counts the answers of generators.

        Parameters
        ----------
        by_answer : bool
            Whether each new answer counts as one step.
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
        """Publish a finished local file as one of the run's, together with the unit's results."""
        self.files.append((name, path, media_type))
