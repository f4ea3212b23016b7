"""One answer from several prompts: at every token the weighted mean of what the model expects after each of them.

REPLUG's ensemble (Shi et al. 2024, section 3.2): p(y_t | y_<t) is the sum over prompts x of weight(x) p(y_t | x, y_<t).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..shapes import Output, Prompt

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]


@runtime_checkable
class Ensembling(Protocol):
    """A generator whose distribution over tokens can be had: a model in this process."""

    def ensemble(self, prompts: Sequence[Prompt], weights: Floats) -> Output:
        """Answer all prompts as one, greedily.

        Parameters
        ----------
        prompts : sequence of Prompt
            One at least; temperature 0, no choices. `max_tokens` is that of the first.
        weights : ndarray, shape (n_prompts,)
            Above 0; their sum is 1.

        Returns
        -------
        Output
            `prompt_tokens` is the sum over prompts.
        """
        ...


def greedy(model: Any, inputs: Mapping[str, torch.Tensor], weights: Floats, **options: Any) -> torch.Tensor:
    """The tokens that a model of transformers says when all rows must say the same.

    Parameters
    ----------
    model : PreTrainedModel
        Causal or sequence-to-sequence.
    inputs : mapping
        `input_ids` and `attention_mask`, shape (n_prompts, n_tokens); a causal model's are padded on the left.
    weights : ndarray, shape (n_prompts,)
        0 or more, not all 0; they are brought to the sum 1.
    options
        For `generate`: `max_new_tokens`, `pad_token_id`.

    Returns
    -------
    Tensor of int, shape (n_new_tokens,)
        Without the prompt; an end token stays at its end.

    Raises
    ------
    ValueError
        If there is not one usable weight a row.
    """
    import torch
    from transformers import LogitsProcessorList

    rows, width = inputs["input_ids"].shape
    if len(weights) != rows or not np.all(np.isfinite(weights)) or weights.min() < 0 or weights.sum() <= 0:
        raise ValueError(f"an ensemble of {rows} prompts needs as many weights of 0 or more, not all 0: {weights}")
    log_weights = torch.tensor(np.asarray(weights) / weights.sum(), dtype=torch.float64).log()

    def together(_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Replace each row's scores by the ensemble's log-probabilities: then all rows choose the same token."""
        log_p = torch.log_softmax(scores.double(), dim=-1) + log_weights.to(scores.device)[:, None]
        return torch.logsumexp(log_p, dim=0).to(scores.dtype).expand_as(scores).clone()

    with torch.inference_mode():
        said: torch.Tensor = model.generate(
            **inputs, do_sample=False, num_beams=1, logits_processor=LogitsProcessorList([together]), **options
        )
    return said[0] if model.config.is_encoder_decoder else said[0, width:]
