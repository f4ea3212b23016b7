"""Signals against a questionnaire: unusual figures, each with innocent explanations.

Also contains their titles and explanations.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from django.utils.functional import Promise

from . import measures
from .measures import AnswerRuns, Work


@dataclass(frozen=True)
class SignalWords:
    """The title, explanation and innocent causes of a signal."""

    title: str | Promise
    explanation: str | Promise
    innocent: str | Promise


SIGNAL_WORDS: Final[dict[str, SignalWords]] = {
    "too_fast": SignalWords(
        "Too fast",
        (
            "The time is below the minimum that the campaign sets (default: 40 % of the announced time, at most "
            "10 minutes), or most items took less time than single texts need (20 seconds each, or less if the "
            "minimum allows less)."
        ),
        (
            "A practised reader, texts known from another questionnaire, reading on another device or on paper, "
            "short texts, or a browser that reported no time."
        ),
    ),
    "failed_checks": SignalWords(
        "Failed attention checks",
        (
            "The judge gave wrong answers to questions that say which answer to select, or that state something "
            "impossible. In studies of five minutes or more, one failed check is not a reason to reject."
        ),
        (
            "A slip of the finger on a phone, a screen reader that reads the check separately from its options, "
            "or an ambiguous text."
        ),
    ),
    "gold_missed": SignalWords(
        "Missed known labels",
        (
            "The judge matched the known labels no more often than by guessing: guessing reaches the same number "
            "or more with a probability above a quarter. Answers within an item are correlated, so a few items "
            "say little."
        ),
        (
            "A wrong or debatable known label, an unusual but valid opinion, or a different understanding of the "
            "dimension. See how others answered the same item."
        ),
    ),
    "straight_lining": SignalWords(
        "Mostly the same answer",
        (
            "All or nearly all answers are the same, or half of them in a row are the same. Only this judge's "
            "own answers count."
        ),
        ("Pairs that hardly differ, so that a careful judge chose “neither”, or one side that is always better."),
    ),
    "one_sided": SignalWords(
        "Side preference",
        (
            "Each item counts once, for the side with most of its answers. Questionnaires balance the sides, so "
            "about half should be left. The interval is exact (Clopper and Pearson)."
        ),
        "Chance (about one in a hundred honest judges), or a questionnaire in which one side is better.",
    ),
    "disagrees": SignalWords(
        "Disagrees with others",
        (
            "Answers are compared with the majority of the other judges. The expected value is that of a judge "
            "with the same answer frequencies who does not look at the items. The spread is computed over items."
        ),
        (
            "Few, careless or wrong other judges, pairs that hardly differ, or an informed minority. With fewer "
            "than three others, the majority itself is uncertain."
        ),
    ),
    "low_competence": SignalWords(
        "Low competence",
        (
            "The model of all judgments so far (MACE) classifies most of this judge's answers on these "
            "dimensions as spam. It changes as judgments arrive."
        ),
        (
            "Few judgments so far, other judges who are careless and agree with each other, or dimensions on "
            "which nobody agrees."
        ),
    ),
}


def duration_text(seconds: float) -> str:
    """Return a duration as displayed."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class ProposedAction(IntEnum):
    """The action that a signal proposes, mildest first."""

    ACCEPT = 0
    LOOK = 1
    REJECT = 2


@dataclass(frozen=True)
class SignalLimits:
    """Limits beyond which a figure is unusual; docs/methods/screening.md says how often honest judges pass each.

    Attributes
    ----------
    fast_share
        share of items read faster than the study's seconds per text.
    least_answers
        minimum number of answers for straight-lining, unless all are the same.
    least_equal, least_equal_items
        minimum number of answers and of items for straight-lining if all answers are the same.
    same_share, same_run
        share of the most frequent answer, and of the longest run among all answers.
    one_sided
        probability of a split at least this uneven without a preference for a side.
    least_items
        minimum number of items for agreement.
    better_than_chance
        standard errors by which agreement should exceed chance: 0.67 is exceeded by chance in a quarter of cases.
    least_known
        minimum number of known labels.
    guessing
        probability that guessing matches as many known labels or more.
    spam
        spam probability above which judgments on a dimension are not trusted, as in the analysis.
    spam_share
        share of dimensions above that probability.
    """

    fast_share: float = 0.5
    least_answers: int = 20
    least_equal: int = 5
    least_equal_items: int = 3
    same_share: float = 0.85
    same_run: float = 0.5
    one_sided: float = 0.01
    least_items: int = 5
    better_than_chance: float = 0.67
    least_known: int = 6
    guessing: float = 0.25
    spam: float = 0.7
    spam_share: float = 0.5


@dataclass(frozen=True)
class Signal:
    """An unusual figure in words, with its evidence and the action that it proposes."""

    name: str
    words: str
    proposes: ProposedAction
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The displayed title."""
        return str(SIGNAL_WORDS[self.name].title)

    @property
    def explanation(self) -> str:
        """What it means and where its limit comes from."""
        return str(SIGNAL_WORDS[self.name].explanation)

    @property
    def innocent(self) -> str:
        """Innocent explanations."""
        return str(SIGNAL_WORDS[self.name].innocent)


DEFAULT: Final = SignalLimits()


def signals_of(work: Work, limits: SignalLimits = DEFAULT) -> list[Signal]:
    """Return the signals against a questionnaire, strongest first."""
    signals_found = [signal for look in LOOKS if (signal := look(work, limits)) is not None]
    return sorted(signals_found, key=lambda each: -each.proposes)


def too_fast(work: Work, limits: SignalLimits) -> Signal | None:
    """Return a signal if the questionnaire took less than the study's minimum reading time."""
    pace = measures.pace(work)
    if pace is None:
        return None
    evidence = {
        "limit": pace.limit,
        "per_text": pace.per_text,
        "seconds": pace.seconds,
        "active": pace.active,
        "items_timed": pace.items_timed,
        "items_fast": pace.items_fast,
    }
    fast = pace.items_fast / pace.items_timed if pace.items_timed else 0.0
    if pace.seconds is not None and pace.seconds < pace.limit:
        words = "%(took)s in total. The minimum is %(limit)s."
        words %= {"took": duration_text(pace.seconds), "limit": duration_text(pace.limit)}
        return Signal("too_fast", words, ProposedAction.REJECT, evidence)
    if pace.active is not None and pace.active < pace.limit:
        words = "%(took)s with the page in the foreground. The minimum is %(limit)s."
        words %= {"took": duration_text(pace.active), "limit": duration_text(pace.limit)}
        return Signal("too_fast", words, ProposedAction.LOOK, evidence)
    if fast > limits.fast_share:
        words = "%(fast)d of %(n)d items took less than %(seconds)d s per text."
        words %= {"fast": pace.items_fast, "n": pace.items_timed, "seconds": round(pace.per_text)}
        return Signal("too_fast", words, ProposedAction.LOOK, evidence)
    return None


def failed_checks(work: Work, limits: SignalLimits) -> Signal | None:
    """Return a signal if checks were failed. Enough failed checks propose a rejection."""
    failed = [check for check in work.checks if not check.passed]
    if not failed:
        return None
    words = "%(failed)d of %(n)d check failed" if len(work.checks) == 1 else "%(failed)d of %(n)d checks failed"
    words %= {"failed": len(failed), "n": len(work.checks)}
    enough = len(failed) >= work.fails_needed
    words += "." if enough else f". At least {work.fails_needed} are needed to propose a rejection."
    evidence = {"failed": len(failed), "asked": len(work.checks), "needed": work.fails_needed}
    return Signal("failed_checks", words, ProposedAction.REJECT if enough else ProposedAction.LOOK, evidence)


def gold_missed(work: Work, limits: SignalLimits) -> Signal | None:
    """Return a signal if known labels are matched no more often than by guessing."""
    hits = measures.known_label_hits(work)
    if hits is None or hits.n < limits.least_known or hits.p <= limits.guessing:
        return None
    words = "%(hits)d of %(n)d known labels matched. Guessing gives %(chance).1f."
    words %= {"hits": hits.hits, "n": hits.n, "chance": hits.chance * hits.n}
    evidence = {"hits": hits.hits, "n": hits.n, "chance": hits.chance, "p": hits.p}
    return Signal("gold_missed", words, ProposedAction.LOOK, evidence)


def straight_lining(work: Work, limits: SignalLimits) -> Signal | None:
    """Return a signal if nearly all answers are the same, or half of them in a row. Uses only the judge's answers."""
    runs = measures.answer_runs(work)
    if runs is None or not (_all_equal(runs, limits) or _alike(runs, limits)):
        return None
    if runs.is_equal:
        words = f"All {runs.n} answers are the same."
    else:
        words = f"{runs.share * 100:.0f} % of {runs.n} answers are the same, at most {runs.longest} in a row."
    if runs.others is not None:
        words += f" The other judges gave that answer {runs.others * 100:.0f} % of the time."
    evidence = {"n": runs.n, "longest": runs.longest, "share": runs.share, "others": runs.others}
    return Signal("straight_lining", words, ProposedAction.LOOK, evidence)


def _alike(runs: AnswerRuns, limits: SignalLimits) -> bool:
    is_long = runs.longest >= limits.same_run * runs.n
    return runs.n >= limits.least_answers and (runs.share >= limits.same_share or is_long)


def _all_equal(runs: AnswerRuns, limits: SignalLimits) -> bool:
    return runs.is_equal and runs.n >= limits.least_equal and runs.items >= limits.least_equal_items


def one_sided(work: Work, limits: SignalLimits) -> Signal | None:
    """Return a signal if one side of pairs is preferred more than by chance. Uses only the judge's own answers."""
    side_counts = measures.sides(work)
    if side_counts is None or side_counts.p >= limits.one_sided:
        return None
    n = side_counts.items_left + side_counts.items_right
    share = side_counts.items_left / n
    words = (
        f"Left in {side_counts.items_left} and right in {side_counts.items_right} of {n} items: {share * 100:.0f} % "
        f"left (95 % interval {side_counts.low * 100:.0f} % to {side_counts.high * 100:.0f} %)."
    )
    evidence = {
        "left": side_counts.left,
        "right": side_counts.right,
        "items_left": side_counts.items_left,
        "items_right": side_counts.items_right,
        "low": side_counts.low,
        "high": side_counts.high,
        "p": side_counts.p,
        "others": side_counts.others,
    }
    return Signal("one_sided", words, ProposedAction.LOOK, evidence)


def disagrees(work: Work, limits: SignalLimits) -> Signal | None:
    """Return a signal if the others' majority is met no more often than by a judge who ignores the items."""
    agreement = measures.majority_agreement(work)
    if agreement is None or agreement.items < limits.least_items or agreement.z >= limits.better_than_chance:
        return None
    words = "Agrees with the majority of others in %(share)d %% of %(n)d answers. Expected by chance: %(expected)d %%."
    words %= {
        "share": round(100 * agreement.hits / agreement.n),
        "n": agreement.n,
        "expected": round(100 * agreement.expected),
    }
    evidence = {
        "hits": agreement.hits,
        "n": agreement.n,
        "items": agreement.items,
        "expected": agreement.expected,
        "z": agreement.z,
    }
    return Signal("disagrees", words, ProposedAction.LOOK, evidence)


def low_competence(work: Work, limits: SignalLimits) -> Signal | None:
    """Return a signal if the model of all judgments does not trust the judge on many dimensions."""
    low = [each for each in work.trust if each.spam > limits.spam]
    if not low or len(low) < limits.spam_share * len(work.trust):
        return None
    words = "Spam probability above %(limit)s on %(n)d of %(of)d dimensions."
    words %= {"limit": limits.spam, "n": len(low), "of": len(work.trust)}
    evidence = {each.dimension: [each.spam, each.low, each.high, each.judgments] for each in work.trust}
    return Signal("low_competence", words, ProposedAction.LOOK, evidence)


LOOKS: Final[tuple[Callable[[Work, SignalLimits], Signal | None], ...]] = (
    too_fast,
    failed_checks,
    gold_missed,
    straight_lining,
    one_sided,
    disagrees,
    low_competence,
)
