"""SPLADE (Formal et al. 2022): weights of all words of a vocabulary for a text, including words that it lacks.

At each token, a masked language model predicts how well each word of its vocabulary would fit there. A word's weight is
the maximum of log(1 + max(0, logit)) over the tokens. A score is the dot product of two such vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from .. import checkpoints
from ..checkpoints import Checkpoint
from ..encoders import Precision
from ..generation import devices, model_cache
from ..generation.devices import Batches, Budget
from ..protocols import Floats, Query
from .search import Documents, SearchResults, TopDocuments, block, by_text, passage, search_text, some_documents

#: Tokens in one batch: each needs one number per word of the vocabulary.
BATCH_TOKENS = {"cpu": 1_024, "cuda": 32_768}
# Tokenizers without a limit state a number of thirty digits instead.
_LONGEST = 512

Weights = tuple[NDArray[np.int64], NDArray[np.float32]]


class NoVocabularyWeightsError(ValueError):
    """The model's files have no head that predicts words, so its weights would be random."""


class Splade:
    """SPLADE as a retriever. Create it with `load`. It can be reused, but only by one thread at a time."""

    def __init__(
        self, checkpoint: Checkpoint, *, device: str | None, precision: Precision, batch_tokens: int | None
    ) -> None:
        try:
            import torch
            from transformers import AutoModelForMaskedLM, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()
        self._torch = torch
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._tokenizer: Any = AutoTokenizer.from_pretrained(checkpoint.folder)
        model, about = AutoModelForMaskedLM.from_pretrained(
            checkpoint.folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True
        )
        if about["missing_keys"]:
            raise NoVocabularyWeightsError(
                f"{checkpoint.name} is not a masked language model: {min(about['missing_keys'])} is not in its files. "
                "Use a SPLADE model, such as naver/splade-cocondenser-ensembledistil."
            )
        is_half = precision == "half" and self.device.type == "cuda"
        self._model = (model.half() if is_half else model).to(self.device).eval()
        self._version = checkpoint.version + ("-half" if is_half else "")
        self._name = checkpoint.name
        positions = getattr(model.config, "max_position_embeddings", None) or _LONGEST
        self.longest = int(min(self._tokenizer.model_max_length, positions, _LONGEST))
        self._budget = Budget(batch_tokens or BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"]))

    @classmethod
    def load(
        cls, model: str, *, device: str | None = None, precision: Precision = "full", batch_tokens: int | None = None
    ) -> Splade:
        """Load a SPLADE model: any masked language model trained in this way.

        Parameters
        ----------
        model : str
            A folder, or a name on a hub. None is bundled.
        device, precision
            As for `encoders.load`.
        batch_tokens : int, optional
            Tokens in one batch; fewer if memory is short.

        Raises
        ------
        NeuralPartsMissingError, ModelMissingError
            See `checkpoints`.
        NoVocabularyWeightsError
            If its files have no head that predicts words.
        """
        return cls(checkpoints.find(model), device=device, precision=precision, batch_tokens=batch_tokens)

    @property
    def name(self) -> str:
        """Name and version of the model."""
        return f"SPLADE {self._name}, {self._version}"

    @property
    def bytes(self) -> int:
        """Device memory that the weights take, in bytes."""
        return devices.held(self._model)

    @property
    def dimensions(self) -> int:
        """Number of words in the vocabulary."""
        return int(self._model.config.vocab_size)

    def encode(self, texts: Sequence[str]) -> scipy.sparse.csr_matrix:
        """Compute the weights of the vocabulary for each text.

        Parameters
        ----------
        texts : sequence of str
            Truncated after `longest` tokens. Special tokens count like any other.

        Returns
        -------
        csr_matrix of float32, shape (n_texts, `dimensions`)
            Stored weights are above 0; all others are 0.

        Raises
        ------
        ModelMemoryError
            If a single text does not fit into the device's memory.
        """
        ids = [self._ids(text) for text in texts]
        order = sorted(range(len(ids)), key=lambda index: (-len(ids[index]), ids[index]))
        batches: Batches[int, Weights] = Batches(
            self._torch, self.device, self._budget, self._name,
            tokens=lambda index: len(ids[index]), work=lambda batch: self._forward([ids[index] for index in batch]),
        )  # fmt: skip
        encoded: dict[int, Weights] = {}
        with model_cache.one_job(self.device):
            for batch, weights in batches.run(order):
                encoded.update(zip(batch, weights, strict=True))
                model_cache.look()
        starts = np.cumsum([0, *(len(encoded[index][0]) for index in range(len(ids)))])
        columns = [encoded[index][0] for index in range(len(ids))] or [np.empty(0, dtype=np.int64)]
        values = [encoded[index][1] for index in range(len(ids))] or [np.empty(0, dtype=np.float32)]
        return scipy.sparse.csr_matrix(
            (np.concatenate(values), np.concatenate(columns), starts), shape=(len(ids), self.dimensions)
        )

    def words(self, text: str, limit: int = 10) -> list[tuple[str, float]]:
        """Return the words with the largest weights in a text, largest first, which show what the model finds in it."""
        row = self.encode([text])
        order = np.argsort(-row.data, kind="stable")[:limit]
        names = self._tokenizer.convert_ids_to_tokens(row.indices[order].tolist())
        return list(zip(names, row.data[order].tolist(), strict=True))

    def scores(self, query: Query) -> Floats:
        """Score the query's documents.

        Returns
        -------
        ndarray of float64, shape (n_documents,)
            At least 0. Equal texts have equal scores.

        Raises
        ------
        NoDocumentsError
            If the query has none.
        """
        vector = self.encode([search_text(query)]).T
        return by_text(query, lambda texts: (self.encode(texts) @ vector).toarray()[:, 0])

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        """Find the best documents of a corpus for each question by exact search; only those that score above 0.

        Parameters
        ----------
        questions : sequence of str
        documents : Documents
            Read once, in blocks.
        n : int

        Raises
        ------
        NoDocumentsError
            If the corpus has none.
        """
        vectors = self.encode(questions)
        best = TopDocuments(len(questions), n, above=0.0)
        for start, block_documents in some_documents(documents).blocks(block(len(questions))):
            best.add(start, (vectors @ self.encode([passage(document) for document in block_documents]).T).toarray())
        return best.results()

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text.strip(), truncation=True, max_length=self.longest)["input_ids"])

    def _forward(self, batch: Sequence[Sequence[int]]) -> list[Weights]:
        torch = self._torch
        width = max(map(len, batch))
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([[*item, *[pad] * (width - len(item))] for item in batch], device=self.device)
        mask = torch.tensor([[1] * len(item) + [0] * (width - len(item)) for item in batch], device=self.device)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits
            # The weight increases with the logit, so take the maximum first: no second array of that size is needed.
            largest = logits.masked_fill(mask[:, :, None] == 0, -torch.inf).amax(dim=1).float()
            weights = torch.log1p(torch.relu(largest))
            rows, columns = torch.nonzero(weights, as_tuple=True)
            values = weights[rows, columns].cpu().numpy()
            ends = torch.bincount(rows, minlength=len(batch)).cumsum(0).cpu().numpy()[:-1]
        return list(zip(np.split(columns.cpu().numpy(), ends), np.split(values, ends), strict=True))
