"""A sentence encoder whose weights can be trained: questions and documents as vectors of length 1."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints
from ...generation import warm

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]

#: Tokens that go through the model at once where nothing is learnt, padding counted.
CHUNK_TOKENS = {"cpu": 2048, "cuda": 65_536}
#: Where sentence-transformers says how tokens become one vector.
_POOLING = "1_Pooling/config.json"
_NO_LIMIT = 1_000_000


class BiEncoder:
    """One encoder for questions and documents, on a device.

    Parameters
    ----------
    name : str
        What `checkpoints.find` knows.
    device : str, optional
        By default a CUDA device where there is one.
    longest : int
        Tokens of a text; what is longer is cut.
    """

    def __init__(self, name: str, *, device: str | None = None, longest: int = 256) -> None:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        checkpoint = checkpoints.find(name)
        self._torch = torch
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.model = AutoModel.from_pretrained(checkpoint.folder, use_safetensors=True, dtype=torch.float32)
        self.model.to(self.device).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder)
        self._pooling = checkpoint.settings(_POOLING)
        limit = getattr(self.model.config, "max_position_embeddings", None) or _NO_LIMIT
        self.longest = int(min(longest, limit - 2, self.tokenizer.model_max_length))
        self._chunk = CHUNK_TOKENS.get(self.device.type, CHUNK_TOKENS["cpu"])

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts, shape (n_texts, n_dimensions), with gradients where torch keeps them."""
        tokens = self.tokenizer(
            list(texts), truncation=True, max_length=self.longest, padding=True, return_tensors="pt"
        ).to(self.device)
        states = self.model(**tokens).last_hidden_state
        if self._pooling.get("pooling_mode_cls_token", False):
            pooled = states[:, 0]
        else:
            mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
            pooled = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        found: torch.Tensor = self._torch.nn.functional.normalize(pooled, dim=1)
        return found

    def embed(self, texts: Sequence[str]) -> Floats:
        """Vectors of texts without gradients, float64, shape (n_texts, n_dimensions); texts of like length together."""
        found = np.empty((len(texts), int(self.model.config.hidden_size)))
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        size = max(1, self._chunk // self.longest)
        for i in range(0, len(order), size):
            places = order[i : i + size]
            with warm.one_job(self.device), self._torch.no_grad():
                found[places] = self.vectors([texts[place] for place in places]).double().cpu().numpy()
        return found

    def save(self, folder: Path) -> None:
        """Write it as any other library reads it: safetensors, tokenizer, and how tokens become one vector."""
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)
        if self._pooling:
            path = folder / _POOLING
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(self._pooling), encoding="utf-8")
