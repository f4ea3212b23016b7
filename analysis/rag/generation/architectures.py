"""Models of a decoder alone (GPT-2, Llama), and of encoder and decoder (T5, BART).

Prompts of a retrieval experiment begin alike: instructions, examples, a question. What a batch shares at the beginning
is read once, and its keys and values serve all of them.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

from ..protocols import Output, Prompt
from . import prompt_tokens
from .devices import Batches, common
from .loader import LoadedModel
from .model import Continuation, Model, PromptTokens


class Causal(Model):
    """A causal model. Prompts are written by its chat template if it has one, else as plain text."""

    def __init__(self, loaded: LoadedModel) -> None:
        super().__init__(loaded)
        self.is_chat = prompt_tokens.has_chat(loaded.tokenizer)
        self._takes = frozenset(inspect.signature(loaded.model.forward).parameters)
        self._kept: tuple[tuple[int, ...], Any] | None = None
        self._may_share = True
        #: Tokens that went through the model as prompts; those of a shared beginning once.
        self.read = 0

    def _ids(self, prompt: Prompt) -> list[int]:
        # A model needs something to go on from; where nothing is said, no conversation is opened either.
        tokens = prompt_tokens.ids(self.loaded.tokenizer, prompt, chat=self.is_chat) if prompt.messages else []
        return tokens or [self._start()]

    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        return prompt_tokens.continuation_ids(self.loaded.tokenizer, prompt, text, spaced=not self.is_chat)

    def _fits(self, prompt: int, answer: int) -> bool:
        return self.longest is None or prompt + answer <= self.longest

    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """By length, or by how they begin: whichever reads fewer tokens, padding counted."""
        by_length = sorted(items, key=lambda item: (-batches.tokens(item), item.ids))
        by_beginning = sorted(items, key=lambda item: (item.ids, batches.tokens(item)))
        return min((by_length, by_beginning), key=lambda order: self._cost(batches.split(order)))

    def _cost(self, batches: Sequence[Sequence[Any]]) -> int:
        cost = 0
        for batch in batches:
            rows = [_text(item) for item in batch]
            shared_length = self._shared(batch)
            cost += shared_length + len(batch) * (max(map(len, rows)) - shared_length)
        return cost

    def _shared(self, batch: Sequence[Any]) -> int:
        """How many tokens of a batch's prompts are read once; never all of one, as the answer hangs on its last."""
        return common([item.ids for item in batch]) if self._may_share else 0

    def _write(self, batch: Sequence[PromptTokens], *, max_tokens: int, beams: int) -> list[Output]:
        shared_length = self._shared(batch)
        ids, mask = self._padded([item.ids for item in batch], shared_length)
        options: dict[str, Any] = {}
        if shared_length and (cache := self._begun(batch[0].ids[:shared_length], len(batch) * beams)) is not None:
            options["past_key_values"] = cache
        self.read += int(mask.sum()) - shared_length * (len(batch) - 1) * bool(options)
        with self._torch.inference_mode():
            tokens = self.loaded.model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=self._settings(max_tokens=max_tokens, beams=beams),
                logits_processor=self._drawing(batch),
                **options,
            )
        return self._outputs(batch, tokens[:, ids.shape[1] :])

    def _score(self, batch: Sequence[Continuation]) -> Sequence[float]:
        torch = self._torch
        shared_length = self._shared(batch)
        ids, mask = self._padded([_text(item) for item in batch], shared_length)
        logits_kept = max(len(item.continuation) for item in batch) + 1
        options: dict[str, Any] = {"use_cache": False}
        if shared_length and (cache := self._begun(batch[0].ids[:shared_length], len(batch))) is not None:
            options = {"past_key_values": cache, "use_cache": True}
        else:
            shared_length = 0
        self.read += int(mask.sum()) - shared_length * (len(batch) - 1)
        if "position_ids" in self._takes:
            options["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, shared_length:]
        if "logits_to_keep" in self._takes:
            options["logits_to_keep"] = logits_kept
        with torch.inference_mode():
            logits = self.loaded.model(input_ids=ids[:, shared_length:], attention_mask=mask, **options).logits
            logits = logits[:, -logits_kept:-1].float().log_softmax(dim=-1)
            targets = ids[:, -(logits_kept - 1) :]
            log_likelihoods = logits.gather(2, targets.unsqueeze(2)).squeeze(2).double()
        return [float(row[-len(item.continuation) :].sum()) for row, item in zip(log_likelihoods, batch, strict=True)]

    def _begun(self, beginning: tuple[int, ...], rows: int) -> Any:
        """Keys and values of a beginning, for so many rows; None where the model's cache cannot be handed on.

        The last beginning is kept: batches of one question follow each other.
        """
        cached = self._kept
        if cached is None or cached[0] != beginning:
            ids = self._tensor([beginning])
            keeping = {"logits_to_keep": 1} if "logits_to_keep" in self._takes else {}
            with self._torch.inference_mode():
                cache = self.loaded.model(input_ids=ids, use_cache=True, **keeping).past_key_values
            if type(cache) is not self.loaded.prepared.transformers.DynamicCache:
                self._may_share = False
                return None
            self._kept = cached = beginning, cache
        copied = copy.deepcopy(cached[1])
        copied.batch_repeat_interleave(rows)
        return copied

    def _padded(self, rows: Sequence[Sequence[int]], shared_length: int) -> tuple[Any, Any]:
        """Texts that end together: padding stands after what is read once, before what is each one's own."""
        width = max(map(len, rows))
        ids = [[*row[:shared_length], *[self._pad] * (width - len(row)), *row[shared_length:]] for row in rows]
        mask = [[1] * shared_length + [0] * (width - len(row)) + [1] * (len(row) - shared_length) for row in rows]
        return self._tensor(ids), self._tensor(mask)

    def _start(self) -> int:
        start = self.loaded.tokenizer.bos_token_id
        return start if start is not None else self._pad


def _text(item: PromptTokens | Continuation) -> tuple[int, ...]:
    return (*item.ids, *item.continuation) if isinstance(item, Continuation) else item.ids


class Seq2Seq(Model):
    """A sequence-to-sequence model. Its prompt is the messages' texts, an empty line between them."""

    def _ids(self, prompt: Prompt) -> list[int]:
        return prompt_tokens.ids(self.loaded.tokenizer, prompt, chat=False)

    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        tokenizer = self.loaded.tokenizer
        return list(tokenizer(text_target=text, add_special_tokens=False, verbose=False)["input_ids"])

    def _fits(self, prompt: int, answer: int) -> bool:
        return self.longest is None or max(prompt, answer) <= self.longest

    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """Longest first, so that memory is short at once or never."""
        return sorted(items, key=lambda item: (-batches.tokens(item), item.ids))

    def _write(self, batch: Sequence[PromptTokens], *, max_tokens: int, beams: int) -> list[Output]:
        ids, mask = self._padded([item.ids for item in batch], self._pad)
        with self._torch.inference_mode():
            tokens = self.loaded.model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=self._settings(max_tokens=max_tokens, beams=beams),
                logits_processor=self._drawing(batch),
            )
        return self._outputs(batch, tokens[:, 1:])  # the first is what the decoder starts from

    def _score(self, batch: Sequence[Continuation]) -> Sequence[float]:
        torch, model = self._torch, self.loaded.model
        ids, mask = self._padded([item.ids for item in batch], self._pad)
        labels, label_mask = self._padded([item.continuation for item in batch], self._pad)
        with torch.inference_mode():
            before = model.prepare_decoder_input_ids_from_labels(labels=labels)
            logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=before).logits
            log_likelihoods = logits.float().log_softmax(dim=-1).gather(2, labels.unsqueeze(2)).squeeze(2)
            return [float(total) for total in (log_likelihoods.double() * label_mask).sum(dim=1)]

    def _padded(self, rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
        width = max(map(len, rows))
        ids = self._tensor([[*row, *[pad] * (width - len(row))] for row in rows])
        mask = self._tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        return ids, mask
