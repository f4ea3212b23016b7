"""What signals are called, what they mean, and what harmless causes they have."""

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


@dataclass(frozen=True)
class Words:
    """What is said of a signal, whoever it is about."""

    title: str | Promise
    explanation: str | Promise
    innocent: str | Promise


OF: Final[dict[str, Words]] = {
    "too_fast": Words(
        gettext_lazy("Too fast"),
        gettext_lazy(
            "Less time than it takes to skim the texts. The limit is the study's own, 10 minutes a questionnaire "
            "unless it says otherwise. For a single text it is 20 seconds, in which a fast reader skims half of it."
        ),
        gettext_lazy(
            "A practised reader; texts that were met before in another questionnaire; a page that was read on another "
            "device or printed; a browser that reported no time."
        ),
    ),
    "failed_checks": Words(
        gettext_lazy("Checks failed"),
        gettext_lazy(
            "Questions that say which answer to give, or that state something impossible, were answered otherwise. "
            "In studies of five minutes or more one failed check is no reason to reject."
        ),
        gettext_lazy(
            "A slip of the finger on a phone; a screen reader that reads the check apart from its options; "
            "a text that can be understood in another way."
        ),
    ),
    "gold_missed": Words(
        gettext_lazy("Known labels missed"),
        gettext_lazy(
            "Labels that were known beforehand were given no more often than a guess gives them: guessing hits as many "
            "or more with a probability above a quarter. Answers within an item go together, so few items say little."
        ),
        gettext_lazy(
            "The known label is wrong or debatable; an unusual but sound opinion; a dimension that was understood "
            "otherwise. See how others answered the same item."
        ),
    ),
    "straight_lining": Words(
        gettext_lazy("Same answer all along"),
        gettext_lazy(
            "All or nearly all answers are the same, or half of them stand in one row. Only this judge's own answers "
            "count."
        ),
        gettext_lazy(
            "Pairs that hardly differ, and somebody careful who therefore chose neither; one side that is better "
            "throughout."
        ),
    ),
    "one_sided": Words(
        gettext_lazy("One side preferred"),
        gettext_lazy(
            "Each item counts once, by the side that most of its answers take. Sides are balanced when questionnaires "
            "are built, so about half should be left. The interval is exact (Clopper and Pearson)."
        ),
        gettext_lazy("Chance: about one honest judge in a hundred; a questionnaire in which one side is better."),
    ),
    "disagrees": Words(
        gettext_lazy("Unlike the others"),
        gettext_lazy(
            "Answers are compared with what more than half of the others say. Expected is what somebody with the same "
            "habits reaches who does not look at the items; the spread is taken over items."
        ),
        gettext_lazy(
            "The others are few, careless or wrong; pairs that hardly differ; an informed minority. With fewer than "
            "three others the majority itself is uncertain."
        ),
    ),
    "low_competence": Words(
        gettext_lazy("Low competence"),
        gettext_lazy(
            "The model of all judgments so far (MACE) takes most of this judge's answers on these dimensions for "
            "spam. It changes while judgments come in."
        ),
        gettext_lazy(
            "Few judgments so far; others who are careless and agree with each other; dimensions on which nobody "
            "agrees."
        ),
    ),
}


def took(seconds: float) -> str:
    """Write a time as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    return _("%(m)d min %(s)d s") % {"m": minutes, "s": rest} if minutes else _("%(s)d s") % {"s": rest}
