"""Models of encoder and decoder (T5, BART): the encoder reads the prompt, the decoder writes the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..shapes import Output, Prompt
from . import prompting
from .batching import Batches
from .model import Asked, Followed, Model


class Seq2Seq(Model):
    """A sequence-to-sequence model. Its prompt is the messages' texts, an empty line between them."""

    def _ids(self, prompt: Prompt) -> list[int]:
        return prompting.ids(self.loaded.tokenizer, prompt, chat=False)

    def _continuation(self, prompt: Prompt, text: str) -> list[int]:
        tokenizer = self.loaded.tokenizer
        return list(tokenizer(text_target=text, add_special_tokens=False, verbose=False)["input_ids"])

    def _fits(self, prompt: int, answer: int) -> bool:
        return self.longest is None or max(prompt, answer) <= self.longest

    def _ordered(self, items: Sequence[Any], batches: Batches[Any, Any]) -> list[Any]:
        """Longest first, so that memory is short at once or never."""
        return sorted(items, key=lambda one: (-batches.tokens(one), one.ids))

    def _write(self, batch: Sequence[Asked], *, max_tokens: int, beams: int) -> list[Output]:
        ids, mask = self._padded([one.ids for one in batch], self._pad)
        with self._torch.inference_mode():
            written = self.loaded.model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=self._settings(max_tokens=max_tokens, beams=beams),
                logits_processor=self._drawing(batch),
            )
        return self._outputs(batch, written[:, 1:])  # the first is what the decoder starts from

    def _score(self, batch: Sequence[Followed]) -> Sequence[float]:
        torch, model = self._torch, self.loaded.model
        ids, mask = self._padded([one.ids for one in batch], self._pad)
        labels, said = self._padded([one.continuation for one in batch], self._pad)
        with torch.inference_mode():
            before = model.prepare_decoder_input_ids_from_labels(labels=labels)
            logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=before).logits
            each = logits.float().log_softmax(dim=-1).gather(2, labels.unsqueeze(2)).squeeze(2)
            return [float(total) for total in (each.double() * said).sum(dim=1)]

    def _padded(self, rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
        width = max(map(len, rows))
        ids = self._tensor([[*row, *[pad] * (width - len(row))] for row in rows])
        mask = self._tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        return ids, mask
