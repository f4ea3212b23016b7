"""SPLADE (Formal et al. 2022): a text becomes weights of all words of a vocabulary, those it does not hold too.

A masked language model says at each token how well each word of its vocabulary would stand there; a word's weight is
the largest of log(1 + max(0, logit)) over the tokens. A score is the product of two such vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import checkpoints
from ..checkpoints import Checkpoint
from ..encoders import Precision
from ..generation import devices, model_cache
from ..generation.devices import Batches, Budget
from ..protocols import Floats, Query
from .search import Documents, SearchResults, TopDocuments, block, by_text, passage, search_text, some_documents

#: Tokens in one batch: each takes a number for every word of the vocabulary.
BATCH_TOKENS = {"cpu": 1_024, "cuda": 32_768}
# Tokenizers without a limit of their own say so by a number of thirty digits.
_LONGEST = 512

Weights = tuple[NDArray[np.int64], NDArray[np.float32]]


class NoVocabularyWeightsError(ValueError):
    """The model's files hold no head that predicts words: its weights would be random."""


class Splade:
    """SPLADE as a retriever. Make it with `load`; it may be kept, for one thread at a time."""

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
        """Load a SPLADE model: any masked language model that was trained so.

        Parameters
        ----------
        model : str
            A folder, or a name on a hub. None is bundled.
        device, precision
            As for `encoders.load`.
        batch_tokens : int, optional
            Tokens that go through the model at once; less where memory is short.

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
        """The model and its version."""
        return f"SPLADE {self._name}, {self._version}"

    @property
    def bytes(self) -> int:
        """What its weights take of the device's memory."""
        return devices.held(self._model)

    @property
    def dimensions(self) -> int:
        """How many words the vocabulary has."""
        return int(self._model.config.vocab_size)

    def encode(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Weigh the vocabulary for each text.

        Parameters
        ----------
        texts : sequence of str
            Cut after `longest` tokens. Special tokens count as any.

        Returns
        -------
        csr_matrix of float32, shape (n_texts, `dimensions`)
            All weights are above 0; what is not stored is 0.

        Raises
        ------
        ModelMemoryError
            If a text alone does not fit into the device's memory.
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
        return sparse.csr_matrix(
            (np.concatenate(values), np.concatenate(columns), starts), shape=(len(ids), self.dimensions)
        )

    def words(self, text: str, limit: int = 10) -> list[tuple[str, float]]:
        """Say which words weigh most in a text: what the model takes it to be about."""
        row = self.encode([text])
        order = np.argsort(-row.data, kind="stable")[:limit]
        names = self._tokenizer.convert_ids_to_tokens(row.indices[order].tolist())
        return list(zip(names, row.data[order].tolist(), strict=True))

    def scores(self, query: Query) -> Floats:
        """Score the query's documents.

        Returns
        -------
        ndarray of float64, shape (n_documents,)
            0 or more. Equal texts have equal scores.

        Raises
        ------
        NoDocumentsError
            If the query has none.
        """
        vector = self.encode([search_text(query)]).T
        return by_text(query, lambda texts: (self.encode(texts) @ vector).toarray()[:, 0])

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        """Find the best documents of a corpus for each question, exactly; those that score above 0.

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
            # The logarithm rises with the logit, so that the largest can be taken before: no second array of that size.
            largest = logits.masked_fill(mask[:, :, None] == 0, -torch.inf).amax(dim=1).float()
            weights = torch.log1p(torch.relu(largest))
            rows, columns = torch.nonzero(weights, as_tuple=True)
            values = weights[rows, columns].cpu().numpy()
            ends = torch.bincount(rows, minlength=len(batch)).cumsum(0).cpu().numpy()[:-1]
        return list(zip(np.split(columns.cpu().numpy(), ends), np.split(values, ends), strict=True))
