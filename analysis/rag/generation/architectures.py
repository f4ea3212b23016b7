"""Decoder-only models (GPT-2, Llama) and encoder-decoder models (T5, BART).

Prompts of a retrieval experiment share a prefix: instructions, examples, a question. A batch's shared prefix is read
once; all rows reuse its keys and values.
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
    """A causal model. Prompts use its chat template if it has one, else plain text."""

    def __init__(self, loaded: LoadedModel) -> None:
        super().__init__(loaded)
        self.is_chat = prompt_tokens.has_chat(loaded.tokenizer)
        self._takes = frozenset(inspect.signature(loaded.model.forward).parameters)
        self._kept: tuple[tuple[int, ...], Any] | None = None
        self._may_share = True
        #: Prompt tokens read by the model; a shared prefix counts once.
        self.read = 0

    def _ids(self, prompt: Prompt) -> list[int]:
        # A model needs at least one token to continue. An empty prompt does not open a conversation either.
        tokens = prompt_tokens.ids(self.loaded.tokenizer, prompt, chat=self.is_chat) if prompt.messages else []
        return tokens or [self._start()]

    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        return prompt_tokens.continuation_ids(self.loaded.tokenizer, prompt, text, spaced=not self.is_chat)

    def _fits(self, prompt: int, answer: int) -> bool:
        return self.longest is None or prompt + answer <= self.longest

    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """Sort by length or by prefix, whichever reads fewer tokens, including padding."""
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
        """Return the length of a batch's shared prefix; never a whole prompt, since the answer needs its last token."""
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
        """Return the keys and values of a prefix for this many rows; None if the model's cache cannot be reused.

        The last prefix is cached, since batches of one question follow each other.
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
        """Align texts at their end: the padding goes between the shared prefix and each row's own tokens."""
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
    """A sequence-to-sequence model. Its prompt is the texts of the messages, separated by blank lines."""

    def _ids(self, prompt: Prompt) -> list[int]:
        return prompt_tokens.ids(self.loaded.tokenizer, prompt, chat=False)

    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        tokenizer = self.loaded.tokenizer
        return list(tokenizer(text_target=text, add_special_tokens=False, verbose=False)["input_ids"])

    def _fits(self, prompt: int, answer: int) -> bool:
        return self.longest is None or max(prompt, answer) <= self.longest

    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """Sort by descending length, so that a lack of memory shows at once."""
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
        return self._outputs(batch, tokens[:, 1:])  # the first is the decoder's start token

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
