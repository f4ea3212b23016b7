"""The base of generators in this process: prompts, batches, sampling, ensembles, likelihoods.

REPLUG's ensemble (Shi et al. 2024, section 3.2): p(y_t | y_<t) is the sum over prompts x of weight(x) p(y_t | x, y_<t).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..protocols import Floats, Output, Prompt
from . import devices, prompt_tokens
from .devices import Batches, Budget
from .loader import LoadedModel


class Drawn:
    """Sample the next token of each row and leave only that one possible, so that transformers' greedy search takes it.

    transformers samples a whole batch from one random stream, so that a prompt's output would depend on its neighbours.

    Parameters
    ----------
    torch : module
    prompts : sequence of Prompt
        All of one temperature above 0, in the order of the batch's rows.
    """

    def __init__(self, torch: Any, prompts: Sequence[Prompt]) -> None:
        self._torch = torch
        self._temperature = prompts[0].temperature
        self._chances = [prompt_tokens.chance(prompt) for prompt in prompts]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return scores that are minus infinity for all but the sampled token.

        Parameters
        ----------
        input_ids : tensor, shape (n_rows, n_tokens)
            Ignored.
        scores : tensor, shape (n_rows, n_words)
            Logits.
        """
        torch = self._torch
        # In double precision, because the sums run over a hundred thousand words.
        shares = torch.softmax(scores.double() / self._temperature, dim=-1).cumsum(dim=-1)
        draws = torch.tensor([chance.random() for chance in self._chances], dtype=shares.dtype, device=shares.device)
        # The sum may miss 1 by rounding, so a draw beyond the last possible word gives that word.
        tokens = torch.searchsorted(shares, (draws * shares[:, -1]).unsqueeze(1), right=True)
        tokens = torch.minimum(tokens, shares.argmax(dim=-1, keepdim=True))
        return torch.full_like(scores, -torch.inf).scatter(1, tokens, 0.0)


@runtime_checkable
class EnsembleGenerator(Protocol):
    """A generator with access to its token distribution: a model in this process."""

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts jointly with one output, by greedy search.

        Parameters
        ----------
        prompts : sequence of Prompt
            At least one. `max_tokens` is that of the first; temperature and choices are ignored.
        weights : ndarray, shape (n_prompts,)
            At least 0, not all 0; they are normalised to the sum 1.

        Returns
        -------
        Output
            `prompt_tokens` is the sum over prompts. If a prompt exceeds the model's length, an error.

        Raises
        ------
        NoLikelihoodsError
            If the generator cannot do this after all.
        ValueError
            If there is not one valid weight per prompt.
        """
        ...


def normalised_weights(weights: Floats, prompts: int) -> Floats:
    """Return the weights normalised to the sum 1.

    Raises
    ------
    ValueError
        If there is not one weight of at least 0 per prompt, or all are 0.
    """
    weight_array = np.asarray(weights, dtype=np.float64)
    if (
        not prompts
        or weight_array.shape != (prompts,)
        or not np.all(weight_array >= 0)
        or not 0 < weight_array.sum() < np.inf
    ):
        raise ValueError(f"an ensemble of {prompts} prompts needs as many weights of 0 or more, not all 0: {weights}")
    return np.asarray(weight_array / weight_array.sum())


class Mixed:
    """Give all rows of a batch the same distribution, so that greedy search picks the same token for each.

    Parameters
    ----------
    torch : module
    weights : sequence of float
        Weights of the rows; their sum is 1.
    """

    def __init__(self, torch: Any, weights: Sequence[float]) -> None:
        self._torch = torch
        self._log_weights = torch.tensor(weights, dtype=torch.float64).log().unsqueeze(1)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the logarithm of the weighted mean distribution, repeated for each row.

        Parameters
        ----------
        input_ids : tensor, shape (n_rows, n_tokens)
            Ignored.
        scores : tensor, shape (n_rows, n_words)
            Logits.
        """
        torch = self._torch
        # In double precision, because the sums run over a hundred thousand words.
        log_p = torch.log_softmax(scores.double(), dim=-1) + self._log_weights.to(scores.device)
        return torch.logsumexp(log_p, dim=0, keepdim=True).to(scores.dtype).repeat(len(scores), 1)


@dataclass(frozen=True)
class PromptTokens:
    """A prompt with its tokens and, in an ensemble, its weight."""

    prompt: Prompt
    ids: tuple[int, ...]
    share: float | None = None


@dataclass(frozen=True)
class Continuation:
    """The tokens of a prompt and of a text that follows it; `prompt_index` is the number of the prompt."""

    prompt_index: int
    ids: tuple[int, ...]
    continuation: tuple[int, ...]


class Model(ABC):
    """A generator in this process: `generate` and `likelihoods` of the protocol, and `stream`, which yields batches."""

    def __init__(self, loaded: LoadedModel) -> None:
        prepared, options = loaded.prepared, loaded.prepared.options
        self.loaded = loaded
        self.device = prepared.device
        self._torch = prepared.torch
        default_budget = devices.batch_tokens(prepared.torch, prepared.device, prepared.config, prepared.number_bytes)
        self.budget = Budget(options.batch_tokens or default_budget)
        limits = [limit for limit in (loaded.limit(), options.longest) if limit]
        self.longest: int | None = min(limits) if limits else None
        model_ends = loaded.model.generation_config.eos_token_id
        ends = (loaded.tokenizer.eos_token_id, *(model_ends if isinstance(model_ends, list) else [model_ends]))
        # The tokenizer's end token first: it ends an answer in a conversation.
        self._ends: list[int] = list(dict.fromkeys(end for end in ends if end is not None))
        pad = loaded.tokenizer.pad_token_id
        self._pad: int = pad if pad is not None else (self._ends or [0])[0]

    @property
    def name(self) -> str:
        """Name of the model with its version and search options."""
        return self.loaded.prepared.name

    @property
    def bytes(self) -> int:
        """Device memory that the weights take, in bytes."""
        return devices.held(self.loaded.model)

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in the given order.

        Parameters
        ----------
        prompts : sequence of Prompt
            Repeated prompts are answered once; the repeats are marked as stored. At temperature 0 by greedy or beam
            search, else sampled with random numbers that depend only on the prompt. With choices, the output is the
            choice whose tokens, including the end token, are jointly most likely. At temperature T, it is sampled in
            proportion to the T-th root of that likelihood.

        Returns
        -------
        list of Output
            A prompt that exceeds the model's length gives an error and is not truncated. In other batches, numbers
            differ in the seventh digit (the third in half precision), so that equally likely outputs may come out
            differently.

        Raises
        ------
        devices.ModelMemoryError
            If a single prompt does not fit into the device's memory.
        """
        output_of = {prompt: output for batch in self.stream(prompts) for prompt, output in batch}
        stored: set[Prompt] = set()
        outputs = []
        for prompt in prompts:
            outputs.append(replace(output_of[prompt], is_stored=True) if prompt in stored else output_of[prompt])
            stored.add(prompt)
        return outputs

    def stream(self, prompts: Sequence[Prompt]) -> Iterator[list[tuple[Prompt, Output]]]:
        """Yield distinct prompts with their outputs in batches, in the fastest order."""
        prompt_tokens = [PromptTokens(prompt, tuple(self._ids(prompt))) for prompt in dict.fromkeys(prompts)]
        problems = [self._problem(item) for item in prompt_tokens]
        failed = [pair for pair in zip(prompt_tokens, problems, strict=True) if pair[1]]
        if failed:
            yield [(item.prompt, Output("", prompt_tokens=len(item.ids), error=problem)) for item, problem in failed]
        prompt_tokens = [item for item, problem in zip(prompt_tokens, problems, strict=True) if not problem]
        yield from self._choose([item for item in prompt_tokens if item.prompt.choices])
        alike: dict[tuple[int, float], list[PromptTokens]] = {}
        for item in prompt_tokens:
            if not item.prompt.choices:
                alike.setdefault((item.prompt.max_tokens, item.prompt.temperature), []).append(item)
        for (max_tokens, temperature), group in alike.items():
            beams = self.loaded.prepared.options.beams if temperature == 0 else 1
            tokens = partial(self._room, max_tokens=max_tokens, beams=beams)
            batches: Batches[PromptTokens, Output] = self._batches(
                tokens, partial(self._write, max_tokens=max_tokens, beams=beams)
            )
            for batch, outputs in batches.run(self._ordered(group, batches)):
                yield [(item.prompt, output) for item, output in zip(batch, outputs, strict=True)]

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts jointly with one output; see `EnsembleGenerator.ensemble`.

        Raises
        ------
        devices.ModelMemoryError
            If the prompts do not fit into the device's memory together.
        """
        shares = normalised_weights(weights, len(prompts)).tolist()
        prompt_tokens = [
            PromptTokens(prompt, tuple(self._ids(prompt)), share) for prompt, share in zip(prompts, shares, strict=True)
        ]
        tokens = sum(len(item.ids) for item in prompt_tokens)
        if problem := next(filter(None, map(self._problem, prompt_tokens)), ""):
            return Output("", prompt_tokens=tokens, error=problem)
        max_tokens = prompts[0].max_tokens

        def write(batch: Sequence[Sequence[PromptTokens]]) -> list[Output]:
            return [self._write(group, max_tokens=max_tokens, beams=1)[0] for group in batch]

        # A single item, which cannot be split.
        batches = self._batches(lambda group: sum(len(item.ids) + max_tokens for item in group), write)
        ((_group, outputs),) = batches.run([prompt_tokens])
        output: Output = outputs[0]
        return replace(output, prompt_tokens=tokens)

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Return the mean log-likelihood per token of each continuation after its prompt.

        Parameters
        ----------
        prompts : sequence of Prompt, length n
            Only their messages matter. After a prompt in plain text, a continuation begins with a space.
        continuations : sequence of str, length n

        Returns
        -------
        ndarray of float64, shape (n,)
            In nats. NaN if the continuation is empty, or if prompt and continuation together exceed the model's length.
        """
        likelihoods = np.full(len(prompts), np.nan)
        for batch in self.stream_likelihoods(prompts, continuations):
            for index, value in batch:
                likelihoods[index] = value
        return likelihoods

    def stream_likelihoods(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> Iterator[list[tuple[int, float]]]:
        """Yield indices and likelihoods in batches; indices without a likelihood are left out."""
        indices_of: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for index, (prompt, text) in enumerate(zip(prompts, continuations, strict=True)):
            pair = tuple(self._ids(prompt)), tuple(self._continuation(prompt, text))
            if pair[1] and self._fits(len(pair[0]), len(pair[1])):
                indices_of.setdefault(pair, []).append(index)
        places = {equal[0]: equal for equal in indices_of.values()}
        for batch in self._totals([Continuation(equal[0], *pair) for pair, equal in indices_of.items()]):
            yield [
                (index, total / len(item.continuation)) for item, total in batch for index in places[item.prompt_index]
            ]

    def _choose(self, prompt_tokens: Sequence[PromptTokens]) -> Iterator[list[tuple[Prompt, Output]]]:
        """Score each choice, and yield a prompt once all of its choices are scored."""
        choices = [self._choices(item) for item in prompt_tokens]
        followed = [
            Continuation(index, item.ids, ids)
            for index, item in enumerate(prompt_tokens)
            for ids in dict.fromkeys(choices[index])
        ]
        totals: list[dict[tuple[int, ...], float]] = [{} for _one in prompt_tokens]
        for batch in self._totals(followed):
            finished = []
            for continuation, total in batch:
                scored = totals[continuation.prompt_index]
                scored[continuation.continuation] = total
                if len(scored) == len(set(choices[continuation.prompt_index])):
                    finished.append(continuation.prompt_index)
            if finished:
                yield [self._chosen(prompt_tokens[index], choices[index], totals[index]) for index in finished]

    def _choices(self, item: PromptTokens) -> list[tuple[int, ...]]:
        """Tokenize each choice with the end token, so that a choice does not pass for the beginning of a longer one."""
        return [(*self._continuation(item.prompt, choice), *self._ends[:1]) for choice in item.prompt.choices]

    def _chosen(
        self, item: PromptTokens, choices: Sequence[tuple[int, ...]], totals: Mapping[tuple[int, ...], float]
    ) -> tuple[Prompt, Output]:
        index = _pick(np.array([totals[ids] for ids in choices]), item.prompt)
        return item.prompt, Output(item.prompt.choices[index], len(item.ids), len(choices[index]))

    def _totals(self, followed: Sequence[Continuation]) -> Iterator[list[tuple[Continuation, float]]]:
        """Yield log-likelihoods of continuations, summed over their tokens, in batches."""
        batches = self._batches(lambda item: len(item.ids) + len(item.continuation), self._score)
        for batch, totals in batches.run(self._ordered(followed, batches)):
            yield list(zip(batch, totals, strict=True))

    def _batches(self, tokens: Any, work: Any) -> Batches[Any, Any]:
        return Batches(self._torch, self.device, self.budget, self.loaded.prepared.files, tokens, work)

    def _room(self, item: PromptTokens, *, max_tokens: int, beams: int) -> int:
        return (len(item.ids) + max_tokens) * beams

    def _problem(self, item: PromptTokens) -> str:
        """Return why a prompt cannot be answered; "" if it can."""
        max_tokens = item.prompt.max_tokens
        if item.prompt.choices:
            max_tokens = max(map(len, self._choices(item)))
        if self._fits(len(item.ids), max_tokens):
            return ""
        return (
            f"The prompt has {len(item.ids)} tokens; {self.loaded.prepared.files} reads at most "
            f"{self.longest}, including the answer."
        )

    def _settings(self, *, max_tokens: int, beams: int) -> Any:
        """Return the generation settings of the model's publishers, but without random sampling by transformers."""
        settings = copy.deepcopy(self.loaded.model.generation_config)
        settings.update(
            do_sample=False, temperature=None, top_k=None, top_p=None, min_p=None, num_beams=beams, use_cache=True,
            max_length=None, max_new_tokens=max_tokens, pad_token_id=self._pad, eos_token_id=self._ends or None,
            return_dict_in_generate=False,
        )  # fmt: skip
        return settings

    def _drawing(self, batch: Sequence[PromptTokens]) -> list[Any]:
        """Return the processor that samples each row's next token (if temperature > 0) or mixes an ensemble's rows."""
        shares = [item.share for item in batch if item.share is not None]
        if shares:
            return [Mixed(self._torch, shares)]
        if batch[0].prompt.temperature == 0:
            return []
        return [Drawn(self._torch, [item.prompt for item in batch])]

    def _outputs(self, batch: Sequence[PromptTokens], tokens: Any) -> list[Output]:
        """Decode the output of each row up to the first end token, which counts as a token."""
        outputs = []
        for item, row in zip(batch, tokens.tolist(), strict=True):
            end = next((index for index, token in enumerate(row) if token in self._ends), None)
            ids = row if end is None else row[: end + 1]
            text = self.loaded.tokenizer.decode(ids, skip_special_tokens=True)
            outputs.append(Output(text, prompt_tokens=len(item.ids), completion_tokens=len(ids)))
        return outputs

    def _tensor(self, rows: Sequence[Sequence[int]]) -> Any:
        return self._torch.tensor(rows, device=self.device)

    @abstractmethod
    def _ids(self, prompt: Prompt) -> list[int]:
        """Tokenize a prompt."""

    @abstractmethod
    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        """Tokenize a text that follows a prompt, without an end token."""

    @abstractmethod
    def _fits(self, prompt: int, answer: int) -> bool:
        """Return whether a prompt and an answer of these lengths fit the model."""

    @abstractmethod
    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """Sort items so that batches of neighbours are cheapest."""

    @abstractmethod
    def _write(self, batch: Sequence[PromptTokens], *, max_tokens: int, beams: int) -> list[Output]:
        """Generate for one batch."""

    @abstractmethod
    def _score(self, batch: Sequence[Continuation]) -> Sequence[float]:
        """Return the log-likelihoods of one batch's continuations, summed over their tokens."""


def _pick(totals: Floats, prompt: Prompt) -> int:
    """Pick a choice: the most likely, the first among ties; sampled if the temperature is above 0."""
    if prompt.temperature == 0:
        return int(np.argmax(totals))
    weights = np.exp((totals - totals.max()) / prompt.temperature)
    return int(np.searchsorted(np.cumsum(weights / weights.sum()), prompt_tokens.chance(prompt).random(), side="right"))
