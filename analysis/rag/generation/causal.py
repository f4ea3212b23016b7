"""Models of a decoder alone (GPT-2, Llama): they go on where the prompt ends.

Prompts of a retrieval experiment begin alike: instructions, examples, a question. What a batch shares at the beginning
is read once, and its keys and values serve all of them.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

from ..shapes import Output, Prompt
from . import prompting
from .batching import Batches, common
from .loading import Loaded
from .model import Asked, Followed, Model


class Causal(Model):
    """A causal model. Prompts are written by its chat template if it has one, else as plain text."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__(loaded)
        self.is_chat = prompting.has_chat(loaded.tokenizer)
        self._takes = frozenset(inspect.signature(loaded.model.forward).parameters)
        self._kept: tuple[tuple[int, ...], Any] | None = None
        self._may_share = True
        #: Tokens that went through the model as prompts; those of a shared beginning once.
        self.read = 0

    def _ids(self, prompt: Prompt) -> list[int]:
        # A model needs something to go on from; where nothing is said, no conversation is opened either.
        said = prompting.ids(self.loaded.tokenizer, prompt, chat=self.is_chat) if prompt.messages else []
        return said or [self._start()]

    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        return prompting.continuation_ids(self.loaded.tokenizer, prompt, text, spaced=not self.is_chat)

    def _fits(self, prompt: int, answer: int) -> bool:
        return self.longest is None or prompt + answer <= self.longest

    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """By length, or by how they begin: whichever reads fewer tokens, padding counted."""
        by_length = sorted(items, key=lambda one: (-batches.tokens(one), one.ids))
        by_beginning = sorted(items, key=lambda one: (one.ids, batches.tokens(one)))
        return min((by_length, by_beginning), key=lambda order: self._cost(batches.split(order)))

    def _cost(self, batches: Sequence[Sequence[Any]]) -> int:
        cost = 0
        for batch in batches:
            rows = [_text(one) for one in batch]
            once = self._shared(batch)
            cost += once + len(batch) * (max(map(len, rows)) - once)
        return cost

    def _shared(self, batch: Sequence[Any]) -> int:
        """How many tokens of a batch's prompts are read once; never all of one, as the answer hangs on its last."""
        return common([one.ids for one in batch]) if self._may_share else 0

    def _write(self, batch: Sequence[Asked], *, max_tokens: int, beams: int) -> list[Output]:
        once = self._shared(batch)
        ids, mask = self._padded([one.ids for one in batch], once)
        more: dict[str, Any] = {}
        if once and (begun := self._begun(batch[0].ids[:once], len(batch) * beams)) is not None:
            more["past_key_values"] = begun
        self.read += int(mask.sum()) - once * (len(batch) - 1) * bool(more)
        with self._torch.inference_mode():
            written = self.loaded.model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=self._settings(max_tokens=max_tokens, beams=beams),
                logits_processor=self._drawing(batch),
                **more,
            )
        return self._outputs(batch, written[:, ids.shape[1] :])

    def _score(self, batch: Sequence[Followed]) -> Sequence[float]:
        torch = self._torch
        once = self._shared(batch)
        ids, mask = self._padded([_text(one) for one in batch], once)
        kept = max(len(one.continuation) for one in batch) + 1
        options: dict[str, Any] = {"use_cache": False}
        if once and (begun := self._begun(batch[0].ids[:once], len(batch))) is not None:
            options = {"past_key_values": begun, "use_cache": True}
        else:
            once = 0
        self.read += int(mask.sum()) - once * (len(batch) - 1)
        if "position_ids" in self._takes:
            options["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, once:]
        if "logits_to_keep" in self._takes:
            options["logits_to_keep"] = kept
        with torch.inference_mode():
            logits = self.loaded.model(input_ids=ids[:, once:], attention_mask=mask, **options).logits
            logits = logits[:, -kept:-1].float().log_softmax(dim=-1)
            wanted = ids[:, -(kept - 1) :]
            each = logits.gather(2, wanted.unsqueeze(2)).squeeze(2).double()
        return [float(row[-len(one.continuation) :].sum()) for row, one in zip(each, batch, strict=True)]

    def _begun(self, beginning: tuple[int, ...], rows: int) -> Any:
        """Keys and values of a beginning, for so many rows; None where the model's cache cannot be handed on.

        The last beginning is kept: batches of one question follow each other.
        """
        kept = self._kept
        if kept is None or kept[0] != beginning:
            ids = self._tensor([beginning])
            keeping = {"logits_to_keep": 1} if "logits_to_keep" in self._takes else {}
            with self._torch.inference_mode():
                cache = self.loaded.model(input_ids=ids, use_cache=True, **keeping).past_key_values
            if type(cache) is not self.loaded.prepared.transformers.DynamicCache:
                self._may_share = False
                return None
            self._kept = kept = beginning, cache
        begun = copy.deepcopy(kept[1])
        begun.batch_repeat_interleave(rows)
        return begun

    def _padded(self, rows: Sequence[Sequence[int]], once: int) -> tuple[Any, Any]:
        """Texts that end together: padding stands after what is read once, before what is each one's own."""
        width = max(map(len, rows))
        ids = [[*row[:once], *[self._pad] * (width - len(row)), *row[once:]] for row in rows]
        mask = [[1] * once + [0] * (width - len(row)) + [1] * (len(row) - once) for row in rows]
        return self._tensor(ids), self._tensor(mask)

    def _start(self) -> int:
        start = self.loaded.tokenizer.bos_token_id
        return start if start is not None else self._pad


def _text(one: Asked | Followed) -> tuple[int, ...]:
    return (*one.ids, *one.continuation) if isinstance(one, Followed) else one.ids
