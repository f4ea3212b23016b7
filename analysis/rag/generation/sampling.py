"""Tokens drawn with random numbers of each prompt's own: what stands beside it in a batch changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..shapes import Prompt
from . import prompting


class Drawn:
    """Draws the next token of each row and leaves only that one possible: transformers' greedy search then takes it.

    transformers draws from one stream for a whole batch, so that a prompt's output would depend on its neighbours.

    Parameters
    ----------
    torch : module
    prompts : sequence of Prompt
        Of one temperature, above 0; in the order of the batch's rows.
    """

    def __init__(self, torch: Any, prompts: Sequence[Prompt]) -> None:
        self._torch = torch
        self._temperature = prompts[0].temperature
        self._chances = [prompting.chance(prompt) for prompt in prompts]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return scores of which all but the drawn token's are minus infinity.

        Parameters
        ----------
        input_ids : tensor, shape (n_rows, n_tokens)
            Not looked at.
        scores : tensor, shape (n_rows, n_words)
            Logits.
        """
        torch = self._torch
        # In double precision: sums over a hundred thousand words.
        shares = torch.softmax(scores.double() / self._temperature, dim=-1).cumsum(dim=-1)
        draws = torch.tensor([chance.random() for chance in self._chances], dtype=shares.dtype, device=shares.device)
        # The sum may miss 1 by its rounding, and a draw beyond it is the last word that is possible at all.
        drawn = torch.searchsorted(shares, (draws * shares[:, -1]).unsqueeze(1), right=True)
        drawn = torch.minimum(drawn, shares.argmax(dim=-1, keepdim=True))
        return torch.full_like(scores, -torch.inf).scatter(1, drawn, 0.0)
