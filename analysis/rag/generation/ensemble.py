"""One answer from several prompts: at every token the weighted mean of what the model expects after each of them.

REPLUG's ensemble (Shi et al. 2024, section 3.2): p(y_t | y_<t) is the sum over prompts x of weight(x) p(y_t | x, y_<t).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..shapes import Floats, Output, Prompt


@runtime_checkable
class Ensembling(Protocol):
    """A generator whose distribution over tokens can be had: a model in this process."""

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts as one, greedily.

        Parameters
        ----------
        prompts : sequence of Prompt
            One at least; `max_tokens` is that of the first. Temperature and choices are not looked at.
        weights : ndarray, shape (n_prompts,)
            0 or more, not all 0; they are brought to the sum 1.

        Returns
        -------
        Output
            `prompt_tokens` is the sum over prompts. If one is longer than the model reads, an error.

        Raises
        ------
        NoLikelihoodsError
            If it turns out that the generator cannot.
        ValueError
            If there is not one usable weight a prompt.
        """
        ...


def shares(weights: Floats, prompts: int) -> Floats:
    """Weights of the sum 1.

    Raises
    ------
    ValueError
        If there is not one of 0 or more for each prompt, or all are 0.
    """
    found = np.asarray(weights, dtype=np.float64)
    if not prompts or found.shape != (prompts,) or not np.all(found >= 0) or not 0 < found.sum() < np.inf:
        raise ValueError(f"an ensemble of {prompts} prompts needs as many weights of 0 or more, not all 0: {weights}")
    return np.asarray(found / found.sum())


class Mixed:
    """Makes all rows of a batch expect the same: transformers' greedy search then gives them the same token.

    Parameters
    ----------
    torch : module
    weights : sequence of float
        Of the rows; their sum is 1.
    """

    def __init__(self, torch: Any, weights: Sequence[float]) -> None:
        self._torch = torch
        self._log_weights = torch.tensor(weights, dtype=torch.float64).log().unsqueeze(1)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the logarithm of the rows' weighted mean distribution, for each row.

        Parameters
        ----------
        input_ids : tensor, shape (n_rows, n_tokens)
            Not looked at.
        scores : tensor, shape (n_rows, n_words)
            Logits.
        """
        torch = self._torch
        # In double precision: sums over a hundred thousand words.
        log_p = torch.log_softmax(scores.double(), dim=-1) + self._log_weights.to(scores.device)
        return torch.logsumexp(log_p, dim=0, keepdim=True).to(scores.dtype).repeat(len(scores), 1)
