"""A model in this process whose outputs are stored: equal prompts are generated once.

Each batch is committed before the next one starts, so a killed process loses at most one batch. Several processes may
generate at the same time: if two generate the same output, both return the one committed first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from django.db import connection, transaction

from analysis.rag import checkpoints, generation
from analysis.rag.generation import loader, model_cache, prompt_tokens
from analysis.rag.generation import model as generation_model
from analysis.rag.protocols import Floats, Output, Prompt, Scored
from crowdrag.llm.replies import clean
from crowdrag.studies.models import Participant, Study

from ..methods.settings import BadParameterError
from .models import CachedOutput

#: Digests per database query.
LOOKED_UP = 1000
_NOT_TO_BE_HAD = (
    checkpoints.NeuralPartsMissingError,
    checkpoints.ModelMissingError,
    loader.UnsupportedGeneratorError,
)


class CachedGenerator:
    """A generator with stored outputs. The model is loaded only when something must be generated.

    Parameters
    ----------
    model : str
        A bundle, a folder, or a name on a model hub.
    options : generation.Options
    study : Study or None
        The study whose texts are in the prompts. Its outputs are deleted with it, or when a participant's texts are
        erased.
    check : callable(), optional
        Called before each batch and while waiting for the device; it may raise to stop. By default the check that is
        set for the thread (`model_cache.look`).
    """

    def __init__(
        self,
        model: str,
        options: generation.Options,
        *,
        study: Study | None,
        check: Callable[[], None] = model_cache.look,
    ) -> None:
        self._model = model
        self._options = options
        self._study = study
        self._check = check
        self._on_answers: Callable[[int], None] = lambda _answers: None
        self._erased = _erased(study)

    @property
    def name(self) -> str:
        """The model with the version of its files, and the decoding options.

        Raises
        ------
        BadParameterError
            If the model is not on this machine, or cannot generate.
        """
        return str(self._prepared.name)

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer all prompts in order: from the store, or else by the model, batch by batch.

        Returns
        -------
        list of Output
            Errors (a prompt longer than the model's context) are not stored, because they cost nothing.

        Raises
        ------
        BadParameterError
            As `name`.
        analysis.rag.generation.devices.ModelMemoryError
            If the model, or a single prompt, does not fit into the device's memory.
        """
        digests = {prompt: digest(self.name, prompt) for prompt in prompts}
        stored = self._look_up(digests.values())
        self._on_answers(len(stored))
        fresh: dict[str, Output] = {}
        if missing := [prompt for prompt, key in digests.items() if key not in stored]:
            with model_cache.one_job(self._prepared.device, check=self._check):
                # Another process may have generated them while this one waited for the device.
                stored |= self._look_up(digests[prompt] for prompt in missing)
                missing = [prompt for prompt in missing if digests[prompt] not in stored]
                self._check()
                for batch in self._loaded.stream(missing) if missing else ():
                    fresh |= self._keep({digests[prompt]: output for prompt, output in batch})
                    self._check()
                    self._on_answers(len(batch))
        outputs, seen = [], set(stored)
        for prompt in prompts:
            key = digests[prompt]
            output = _output(stored[key]) if key in stored else fresh[key]
            outputs.append(replace(output, is_stored=True) if key in seen else output)
            seen.add(key)
        return outputs

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts as one ensemble, and store the output; see `analysis.rag.generation.model`."""
        key = ensemble_digest(self.name, prompts, weights)
        if (stored := self._look_up([key])) == {}:
            with model_cache.one_job(self._prepared.device, check=self._check):
                if (stored := self._look_up([key])) == {}:
                    self._check()
                    return self._keep({key: self._loaded.ensemble(prompts, weights)})[key]
        return _output(stored[key])

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Mean log-likelihood per token of each continuation after its prompt; see `score`."""
        return self.score(prompts, continuations).values

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Scored:
        """Mean log-likelihood per token of each continuation after its prompt, stored like outputs.

        Returns
        -------
        Scored
            In nats; NaN where it is undefined (an empty continuation, or a text longer than the model's context).
            Tokens are not counted.
        """
        keys = [likelihood_digest(self.name, *pair) for pair in zip(prompts, continuations, strict=True)]
        values = {key: row.likelihood for key, row in self._look_up(keys).items()}
        stored = set(values)
        self._on_answers(sum(key in stored for key in keys))
        if any(key not in values for key in keys):
            with model_cache.one_job(self._prepared.device, check=self._check):
                values |= {key: row.likelihood for key, row in self._look_up(keys).items()}
                missing = [index for index, key in enumerate(keys) if key not in values]
                arguments = [prompts[index] for index in missing], [continuations[index] for index in missing]
                for batch in self._loaded.stream_likelihoods(*arguments) if missing else ():
                    values |= self._keep_likelihoods({keys[missing[index]]: value for index, value in batch})
                    self._check()
                    self._on_answers(len(batch))
        likelihoods = np.array(
            [np.nan if (value := values.get(key)) is None else value for key in keys], dtype=np.float64
        )
        return Scored(likelihoods, tuple(Output("", is_stored=key in stored) for key in keys))

    def with_callback(self, on_answers: Callable[[int], None]) -> CachedGenerator:
        """Return this generator with a callback for new answers. An exception from the callback ends the run."""
        self._on_answers = on_answers
        return self

    @cached_property
    def _prepared(self) -> loader.PreparedModel:
        try:
            return _prepare(self._model, self._options)
        except _NOT_TO_BE_HAD as error:
            raise BadParameterError(str(error)) from error

    @property
    def _loaded(self) -> Any:
        prepared = self._prepared
        key = (prepared.name, str(prepared.device), self._options)
        try:
            return model_cache.MODELS.take(key, prepared.load, size=prepared.size)
        except _NOT_TO_BE_HAD as error:
            raise BadParameterError(str(error)) from error

    def _look_up(self, digests: Iterable[str]) -> dict[str, CachedOutput]:
        keys = sorted(set(digests))
        rows_by_digest: dict[str, CachedOutput] = {}
        for start in range(0, len(keys), LOOKED_UP):
            rows = CachedOutput.objects.filter(digest__in=keys[start : start + LOOKED_UP])
            rows_by_digest |= {row.digest: row for row in rows}
        return rows_by_digest

    def _keep(self, outputs: dict[str, Output]) -> dict[str, Output]:
        """Store outputs without errors. Return what is in the store now, and the outputs that are not stored."""
        rows = [
            self._row(
                key,
                text=clean(output.text),
                prompt_tokens=output.prompt_tokens,
                completion_tokens=output.completion_tokens,
            )
            for key, output in outputs.items()
            if not output.error
        ]
        stored = {row.digest: replace(_output(row), is_stored=False) for row in self._stored(rows)}
        return outputs | stored

    def _keep_likelihoods(self, values: dict[str, float]) -> dict[str, float | None]:
        return {row.digest: row.likelihood for row in self._stored([self._row(*one) for one in values.items()])}

    def _row(self, key: str, likelihood: float | None = None, **fields: Any) -> CachedOutput:
        return CachedOutput(digest=key, generator=self.name[:400], study=self._study, likelihood=likelihood, **fields)

    @transaction.atomic
    def _stored(self, rows: list[CachedOutput]) -> Iterable[CachedOutput]:
        """Store rows and return those in the store now. Nothing is stored if texts of the study were erased since."""
        _hold(self._study, shared=True)
        if _erased(self._study) != self._erased:
            return rows
        CachedOutput.objects.bulk_create(rows, ignore_conflicts=True)
        return self._look_up(row.digest for row in rows).values()


def digest(name: str, prompt: Prompt) -> str:
    """SHA-256 of a generator's name and the whole prompt, in hexadecimal."""
    return _digest("output", name, prompt_tokens.digest(prompt))


def likelihood_digest(name: str, prompt: Prompt, continuation: str) -> str:
    """SHA-256 of a generator's name, a prompt's messages and their continuation, in hexadecimal."""
    return _digest("likelihood", name, prompt_tokens.digest(Prompt(prompt.messages)), continuation)


def ensemble_digest(name: str, prompts: Sequence[Prompt], weights: Floats) -> str:
    """SHA-256 of a generator's name, an ensemble's prompts and their weights (nine digits), in hexadecimal."""
    shares = [f"{share:.9f}" for share in generation_model.normalised_weights(weights, len(prompts))]
    return _digest("ensemble", name, *map(prompt_tokens.digest, prompts), *shares)


def forget(study: Study) -> None:
    """Delete the stored outputs of a study, because they may paraphrase erased text.

    They can be generated again.
    """
    _hold(study, shared=False)
    CachedOutput.objects.filter(study=study).delete()


# Each unit makes a generator, and reading the settings of a GGUF file means reading its whole vocabulary.
@lru_cache(maxsize=16)
def _prepare(model: str, options: generation.Options) -> loader.PreparedModel:
    return loader.prepare(model, options)


def _erased(study: Study | None) -> int:
    """The number of participants of a study whose texts were erased."""
    return Participant.objects.filter(study=study, erased_at__isnull=False).count() if study is not None else 0


def _hold(study: Study | None, *, shared: bool) -> None:
    """Lock the study's stored outputs until the transaction ends: shared to store, exclusive to erase."""
    if study is None:
        return
    kind = "_shared" if shared else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock{kind}(hashtext('crowdrag.cached_outputs'), %s)", [study.pk])


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _output(row: CachedOutput) -> Output:
    return Output(row.text, row.prompt_tokens, row.completion_tokens, is_stored=True)
