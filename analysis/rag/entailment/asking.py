"""A language model asked whether a claim follows: a stand-in where no entailment model is at hand, marked as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..shapes import Floats, Generator, Message, Prompt

YES, NO = "yes", "no"
INSTRUCTION = (
    "You are given a passage and a claim. Say whether the claim follows from the passage alone, whatever else you "
    f"know. Answer {YES} if the passage states or implies the claim, {NO} if it does not or contradicts it."
)


@dataclass(frozen=True)
class Asking:
    """A generator's yes or no.

    Attributes
    ----------
    generator : Generator
    is_standin : bool
        True: results are marked.
    """

    generator: Generator
    is_standin: bool = True

    @property
    def name(self) -> str:
        """The generator, asked."""
        return f"{self.generator.name} asked for {YES} or {NO}"

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Whether the second text follows from the first, as the generator says at temperature 0.

        Parameters
        ----------
        pairs : sequence of (str, str)

        Returns
        -------
        ndarray of float64, shape (n,)
            1 for yes, 0 for no; NaN where it is undefined: the second text is empty and claims nothing, or the
            generator failed, refused or said something else.
        """
        found = np.full(len(pairs), np.nan)
        asked = [place for place, (_premise, claim) in enumerate(pairs) if claim.strip()]
        outputs = self.generator.generate([prompt(*pairs[place]) for place in asked])
        for place, output in zip(asked, outputs, strict=True):
            said = output.text.strip().strip(".!\"'").casefold()
            if not output.error and said in (YES, NO):
                found[place] = float(said == YES)
        return found


def prompt(premise: str, claim: str) -> Prompt:
    """What is asked: the instruction and the passage first, as claims of one passage then begin alike."""
    question = f"Passage:\n{premise.strip()}\n\nClaim:\n{claim.strip()}\n\nDoes the claim follow from the passage?"
    messages = (Message("system", INSTRUCTION), Message("user", question))
    return Prompt(messages, max_tokens=4, choices=(YES, NO))
