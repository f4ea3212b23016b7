"""Entailment: does a claim follow from a passage? By an NLI model, or a language model's yes or no as a stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import checkpoints
from .checkpoints import Checkpoint
from .generation import devices, model_cache
from .generation.devices import Batches, Budget, Precision
from .protocols import Floats, Generator, Message, Prompt

YES, NO = "yes", "no"
INSTRUCTION = (
    "You are given a passage and a claim. Say whether the claim follows from the passage alone, whatever else you "
    f"know. Answer {YES} if the passage states or implies the claim, {NO} if it does not or contradicts it."
)


@dataclass(frozen=True)
class PromptedEntailment:
    """A generator's yes or no as a stand-in for an entailment model.

    Attributes
    ----------
    generator : Generator
    is_standin : bool
        True: results are marked as such.
    """

    generator: Generator
    is_standin: bool = True

    @property
    def name(self) -> str:
        """Name of the generator and of the answers that it chooses from."""
        return f"{self.generator.name} asked for {YES} or {NO}"

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return whether the second text follows from the first, according to the generator at temperature 0.

        Parameters
        ----------
        pairs : sequence of (str, str)

        Returns
        -------
        ndarray of float64, shape (n,)
            1 for yes, 0 for no. NaN if undefined: the second text is empty and so claims nothing, or the generator
            failed, refused or gave another reply.
        """
        probabilities = np.full(len(pairs), np.nan)
        indices = [index for index, (_premise, claim) in enumerate(pairs) if claim.strip()]
        outputs = self.generator.generate([prompt(*pairs[index]) for index in indices])
        for index, output in zip(indices, outputs, strict=True):
            reply = output.text.strip().strip(".!\"'").casefold()
            if not output.error and reply in (YES, NO):
                probabilities[index] = float(reply == YES)
        return probabilities


def prompt(premise: str, claim: str) -> Prompt:
    """Build the prompt. Instruction and passage come first, so that all claims on one passage share a prefix."""
    question = f"Passage:\n{premise.strip()}\n\nClaim:\n{claim.strip()}\n\nDoes the claim follow from the passage?"
    messages = (Message("system", INSTRUCTION), Message("user", question))
    return Prompt(messages, max_tokens=4, choices=(YES, NO))


# Tokenizers without a limit state a number of thirty digits instead.
_NO_LIMIT = 1_000_000


class NoEntailmentLabelError(ValueError):
    """The model's configuration does not say which of its labels is entailment."""


@dataclass(frozen=True)
class Pair:
    """Token ids of a premise and a hypothesis, with token types if the model tells the two texts apart by them."""

    ids: tuple[int, ...]
    kinds: tuple[int, ...]


class CrossEncoder:
    """An entailment model on a device. Create it with `load`. Only one thread at a time may use it.

    Attributes
    ----------
    is_standin : bool
        False: this model was trained for entailment.
    cut : int
        Number of premises truncated so far because premise and hypothesis together exceed the model's positions.
    """

    is_standin = False

    def __init__(self, checkpoint: Checkpoint, *, device: str | None, precision: Precision, label: str,
                 batch_tokens: int | None) -> None:  # fmt: skip
        try:
            import torch
            from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()
        self._torch = torch
        self.device = devices.choose(torch, device)
        config = AutoConfig.from_pretrained(checkpoint.folder)
        self.entails = entailing(config.id2label, label=label, model=checkpoint.name)
        kind = devices.number_type(torch, self.device, precision, getattr(config, "dtype", None))
        model = AutoModelForSequenceClassification.from_pretrained(checkpoint.folder, use_safetensors=True, dtype=kind)
        self._model = model.eval().to(self.device)
        self._tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder)
        default_budget = devices.batch_tokens(torch, self.device, config, kind.itemsize)
        self.budget = Budget(batch_tokens or default_budget)
        self.longest = _longest(config, self._tokenizer)
        path = Path(checkpoint.name)
        half = "" if kind is torch.float32 else f" {str(kind).removeprefix('torch.')}"
        self._name = f"{path.name if path.is_absolute() else path} {checkpoint.version}{half}"
        self.cut = 0

    @classmethod
    def load(cls, model: str, *, device: str | None = None, precision: Precision = "auto", label: str = "",
             batch_tokens: int | None = None) -> CrossEncoder:  # fmt: skip
        """Load an entailment model.

        Parameters
        ----------
        model : str
            A folder, or a name on a hub (`roberta-large-mnli`).
        device : str, optional
            `cpu`, `cuda`, `cuda:1`; by default a CUDA device if there is one.
        precision : "auto", "full" or "half"
            See `generation.devices.number_type`.
        label : str
            Name of the entailment label, if the model's configuration does not call it entailment.
        batch_tokens : int, optional
            Tokens in one batch; by default as many as the memory allows. Batches that do not fit are made smaller.

        Raises
        ------
        checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError
        NoEntailmentLabelError
            If none of its labels, or more than one, is entailment.
        """
        checkpoint = checkpoints.find(model)
        return cls(checkpoint, device=device, precision=precision, label=label, batch_tokens=batch_tokens)

    @property
    def name(self) -> str:
        """Name of the model with the version of its files."""
        return self._name

    @property
    def bytes(self) -> int:
        """Device memory that the weights take, in bytes."""
        return devices.held(self._model)

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the probability that the second text (hypothesis) follows from the first (premise).

        Parameters
        ----------
        pairs : sequence of (str, str)
            Equal pairs are scored once. The premise is truncated at its end if the two texts together are too long.

        Returns
        -------
        ndarray of float64, shape (n,)
            Softmax probability of the entailment label. NaN if undefined: the hypothesis is empty and so claims
            nothing, or the hypothesis alone exceeds the model's length (a part of a claim is a different claim).

        Raises
        ------
        generation.devices.ModelMemoryError
            If a pair alone does not fit into the device's memory.
        """
        probabilities = np.full(len(pairs), np.nan)
        places: dict[Pair, list[int]] = {}
        for index, (premise, hypothesis) in enumerate(pairs):
            if (pair := self._pair(premise, hypothesis)) is not None:
                places.setdefault(pair, []).append(index)
        batches: Batches[Pair, float] = Batches(
            self._torch, self.device, self.budget, self._name, lambda pair: len(pair.ids), self._forward
        )
        order = sorted(places, key=lambda pair: (-len(pair.ids), pair.ids))
        with model_cache.one_job(self.device):
            for batch, values in batches.run(order):
                for pair, value in zip(batch, values, strict=True):
                    probabilities[places[pair]] = value
                model_cache.look()
        return probabilities

    def _pair(self, premise: str, hypothesis: str) -> Pair | None:
        """Tokenize both texts; None if the hypothesis cannot be judged."""
        premise, hypothesis = premise.strip(), hypothesis.strip()
        if not hypothesis:
            return None
        encoded = self._tokens(premise, hypothesis)
        if len(encoded["input_ids"]) > self.longest:
            # Some of the premise must remain, or there is nothing to infer from.
            if len(self._tokens("", hypothesis)["input_ids"]) >= self.longest:
                return None
            self.cut += 1
            encoded = self._tokens(premise, hypothesis, truncation="only_first", max_length=self.longest)
        return Pair(tuple(encoded["input_ids"]), tuple(encoded.get("token_type_ids", ())))

    def _tokens(self, premise: str, hypothesis: str, **options: Any) -> Any:
        return self._tokenizer(premise, hypothesis, verbose=False, **options)

    def _forward(self, batch: Sequence[Pair]) -> list[float]:
        torch = self._torch
        width = max(len(pair.ids) for pair in batch)
        pad = self._tokenizer.pad_token_id or 0

        def tensor(rows: Sequence[Sequence[int]], filler: int) -> Any:
            return torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows], device=self.device)

        extra = {"token_type_ids": tensor([pair.kinds for pair in batch], 0)} if batch[0].kinds else {}
        with torch.inference_mode():
            logits = self._model(
                input_ids=tensor([pair.ids for pair in batch], pad),
                attention_mask=tensor([[1] * len(pair.ids) for pair in batch], 0),
                **extra,
            ).logits
        shares = logits.double().softmax(dim=-1)[:, self.entails]
        return [float(share) for share in shares]


def entailing(labels: dict[int, str], *, label: str = "", model: str = "The model") -> int:
    """Return the index of the entailment label, found by name, since models order their labels differently.

    Parameters
    ----------
    labels : dict of int to str
        `id2label`.
    label : str
        The label's name, if it does not begin with “entail”.
    model : str
        The model's name in the error message.

    Raises
    ------
    NoEntailmentLabelError

    Examples
    --------
    >>> entailing({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"})
    2
    """
    wanted_name = label.casefold()
    matches = [
        number
        for number, name in labels.items()
        if (name.casefold() == wanted_name if label else name.strip().casefold().startswith("entail"))
    ]
    if len(matches) != 1:
        how_many = "none" if not matches else "more than one"
        raise NoEntailmentLabelError(
            f"{model} has the labels {', '.join(labels.values())}, and {how_many} of them is "
            f"{label or 'entailment'}. Name the right label in its config.json (id2label), or use an NLI model."
        )
    return int(matches[0])


def _longest(config: Any, tokenizer: Any) -> int:
    """Return the model's maximum input length in tokens."""
    positions = getattr(config, "max_position_embeddings", None) or _NO_LIMIT
    if config.model_type in {"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "longformer", "mpnet"}:
        positions -= (config.pad_token_id or 0) + 1  # positions begin after the padding's id
    return int(min(tokenizer.model_max_length, positions, _NO_LIMIT))
