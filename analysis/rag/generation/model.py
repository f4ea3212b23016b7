"""What generators in this process have in common: distinct prompts, batches, choices, likelihoods."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..shapes import Floats, Output, Prompt
from . import devices, prompting
from .batching import Batches, Budget
from .loading import Loaded, Options
from .sampling import Drawn


@dataclass(frozen=True)
class Asked:
    """A prompt with its tokens."""

    prompt: Prompt
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Followed:
    """A prompt's tokens, and those of a text that follows it; `place` says whose they are."""

    place: int
    ids: tuple[int, ...]
    continuation: tuple[int, ...]


class Model(ABC):
    """A generator in this process: `generate` and `likelihoods` of the protocol, and `stream`, batch by batch."""

    def __init__(self, loaded: Loaded, options: Options) -> None:
        self.loaded = loaded
        self.options = options
        self._torch = loaded.torch
        most = devices.batch_tokens(loaded.torch, loaded.device, loaded.model.config, loaded.number_bytes)
        self.budget = Budget(options.batch_tokens or most)
        limits = [limit for limit in (loaded.limit(), options.longest) if limit]
        self.longest: int | None = min(limits) if limits else None
        own = loaded.model.generation_config.eos_token_id
        ends = (loaded.tokenizer.eos_token_id, *(own if isinstance(own, list) else [own]))
        # The tokenizer's first: it is what an answer of a conversation ends with.
        self._ends: list[int] = list(dict.fromkeys(end for end in ends if end is not None))
        pad = loaded.tokenizer.pad_token_id
        self._pad: int = pad if pad is not None else (self._ends or [0])[0]

    @property
    def name(self) -> str:
        """The model with its version, and how it searches."""
        beams = f" beams={self.options.beams}" if self.options.beams > 1 else ""
        longest = f" longest={self.options.longest}" if self.options.longest else ""
        return f"{self.loaded.name}{beams}{longest}"

    @property
    def bytes(self) -> int:
        """What its weights take of the device's memory."""
        return sum(each.numel() * each.element_size() for each in self.loaded.model.parameters())

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in their order.

        Parameters
        ----------
        prompts : sequence of Prompt
            Equal ones are answered once; the others are marked as stored. At temperature 0 by greedy or beam search,
            else drawn with random numbers that depend on the prompt alone. With choices: the one whose tokens, the
            end counted, are the most likely together (at temperature T drawn in proportion to the T-th root of that).

        Returns
        -------
        list of Output
            A prompt that is longer than the model reads is an error, not cut. Among other prompts a batch's numbers
            differ in the seventh digit (third, in half precision), so that what is as likely may come out otherwise.

        Raises
        ------
        batching.ModelMemoryError
            If a prompt alone does not fit into the device's memory.
        """
        found = dict(self.stream(prompts))
        seen: set[Prompt] = set()
        outputs = []
        for prompt in prompts:
            outputs.append(replace(found[prompt], is_stored=True) if prompt in seen else found[prompt])
            seen.add(prompt)
        return outputs

    def stream(self, prompts: Sequence[Prompt]) -> Iterator[tuple[Prompt, Output]]:
        """Yield each distinct prompt with its output as soon as its batch is done, in whatever order is fastest."""
        asked = []
        for prompt in dict.fromkeys(prompts):
            one = Asked(prompt, tuple(self._ids(prompt)))
            if problem := self._problem(one):
                yield prompt, Output("", prompt_tokens=len(one.ids), error=problem)
            else:
                asked.append(one)
        yield from self._choose([one for one in asked if one.prompt.choices])
        alike: dict[tuple[int, float], list[Asked]] = {}
        for one in asked:
            if not one.prompt.choices:
                alike.setdefault((one.prompt.max_tokens, one.prompt.temperature), []).append(one)
        for (max_tokens, temperature), group in alike.items():
            beams = self.options.beams if temperature == 0 else 1
            tokens = partial(self._room, max_tokens=max_tokens, beams=beams)
            batches = self._batches(tokens, partial(self._write, max_tokens=max_tokens, beams=beams))
            for batch, outputs in batches.run(self._ordered(group, batches)):
                yield from ((one.prompt, output) for one, output in zip(batch, outputs, strict=True))

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Mean log-likelihood per token of each continuation after its prompt.

        Parameters
        ----------
        prompts : sequence of Prompt, length n
            Their messages alone count. After a prompt that is plain text, a continuation begins with a blank.
        continuations : sequence of str, length n

        Returns
        -------
        ndarray of float64, shape (n,)
            In nats; NaN where the continuation is empty or the two together are longer than the model reads.
        """
        found = np.full(len(prompts), np.nan)
        asked: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for place, (prompt, text) in enumerate(zip(prompts, continuations, strict=True)):
            pair = tuple(self._ids(prompt)), tuple(self._continuation(prompt, text))
            if pair[1] and self._fits(len(pair[0]), len(pair[1])):
                asked.setdefault(pair, []).append(place)
        followed = [Followed(places[0], *pair) for pair, places in asked.items()]
        places_of = {places[0]: places for places in asked.values()}
        for one, total in self._totals(followed):
            found[places_of[one.place]] = total / len(one.continuation)
        return found

    def _choose(self, asked: Sequence[Asked]) -> Iterator[tuple[Prompt, Output]]:
        """Score each choice, and yield a prompt when all of its choices are scored."""
        followed = []
        for place, one in enumerate(asked):
            for choice in one.prompt.choices:
                ids = (*self._continuation(one.prompt, choice), *self._ends[:1])
                followed.append(Followed(place, one.ids, ids))
        totals: dict[int, dict[tuple[int, ...], float]] = {}
        for each, total in self._totals(list(dict.fromkeys(followed))):
            scored = totals.setdefault(each.place, {})
            scored[each.continuation] = total
            one = asked[each.place]
            ids = [(*self._continuation(one.prompt, choice), *self._ends[:1]) for choice in one.prompt.choices]
            if set(ids) <= set(scored):
                chosen = _pick(np.array([scored[key] for key in ids]), one.prompt)
                yield one.prompt, Output(one.prompt.choices[chosen], len(one.ids), len(ids[chosen]))

    def _totals(self, followed: Sequence[Followed]) -> Iterator[tuple[Followed, float]]:
        """Log-likelihoods of continuations, summed over their tokens."""
        batches = self._batches(lambda one: len(one.ids) + len(one.continuation), self._score)
        for batch, found in batches.run(self._ordered(followed, batches)):
            yield from zip(batch, found, strict=True)

    def _batches(self, tokens: Any, work: Any) -> Batches[Any, Any]:
        return Batches(self._torch, self.loaded.device, self.budget, self.loaded.name, tokens, work)

    def _room(self, one: Asked, *, max_tokens: int, beams: int) -> int:
        return (len(one.ids) + max_tokens) * beams

    def _problem(self, one: Asked) -> str:
        """Why a prompt cannot be answered; "" where it can."""
        rest = one.prompt.max_tokens
        if one.prompt.choices:
            rest = max(len(self._continuation(one.prompt, choice)) for choice in one.prompt.choices) + 1
        if self._fits(len(one.ids), rest):
            return ""
        return f"The prompt has {len(one.ids)} tokens; {self.loaded.name} reads {self.longest} with the answer."

    def _settings(self, *, max_tokens: int, beams: int) -> Any:
        """How transformers is to generate: as the model's publishers say, but without chance of its own."""
        settings = copy.deepcopy(self.loaded.model.generation_config)
        settings.update(
            do_sample=False, temperature=None, top_k=None, top_p=None, min_p=None, num_beams=beams, use_cache=True,
            max_length=None, max_new_tokens=max_tokens, pad_token_id=self._pad, eos_token_id=self._ends or None,
            return_dict_in_generate=False,
        )  # fmt: skip
        return settings

    def _drawing(self, batch: Sequence[Asked]) -> list[Any]:
        """What draws the next token of each prompt, where its temperature says so."""
        if batch[0].prompt.temperature == 0:
            return []
        return [Drawn(self._torch, [one.prompt for one in batch])]

    def _outputs(self, batch: Sequence[Asked], written: Any) -> list[Output]:
        """Read what was written after each prompt, a row each: up to the first end, which counts as a token."""
        outputs = []
        for one, row in zip(batch, written.tolist(), strict=True):
            end = next((place for place, token in enumerate(row) if token in self._ends), None)
            ids = row if end is None else row[: end + 1]
            text = self.loaded.tokenizer.decode(ids, skip_special_tokens=True)
            outputs.append(Output(text, prompt_tokens=len(one.ids), completion_tokens=len(ids)))
        return outputs

    def _tensor(self, rows: Sequence[Sequence[int]]) -> Any:
        return self._torch.tensor(rows, device=self.loaded.device)

    @abstractmethod
    def _ids(self, prompt: Prompt) -> list[int]:
        """A prompt's tokens."""

    @abstractmethod
    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        """The tokens of a text that follows a prompt, without its end."""

    @abstractmethod
    def _fits(self, prompt: int, answer: int) -> bool:
        """Whether the model reads a prompt and an answer of so many tokens."""

    @abstractmethod
    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """The order in which batches of neighbours are cheapest."""

    @abstractmethod
    def _write(self, batch: Sequence[Asked], *, max_tokens: int, beams: int) -> list[Output]:
        """Generate for one batch."""

    @abstractmethod
    def _score(self, batch: Sequence[Followed]) -> Sequence[float]:
        """Log-likelihoods of one batch's continuations, summed over their tokens."""


def _pick(totals: Floats, prompt: Prompt) -> int:
    """Which choice: the most likely, of equal ones the first; drawn where there is a temperature."""
    if prompt.temperature == 0:
        return int(np.argmax(totals))
    weights = np.exp((totals - totals.max()) / prompt.temperature)
    return int(np.searchsorted(np.cumsum(weights / weights.sum()), prompting.chance(prompt).random(), side="right"))
