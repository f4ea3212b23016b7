"""The design of a campaign: how its questionnaires are built. Stored in `Campaign.design`.

| key | what | default |
|---|---|---|
| `responses` | `{"topics": [ids], "styles": [names], "origins": [...], "topic_sample": n}`; empty: all | all |
| `pairs` | `"all"`, or the number of pairs drawn per topic | `"all"` |
| `reverse_share` | share of pairs that are shown in both orders | 1/3 |
| `items_per_questionnaire` | number of items, without gold items | 15 |
| `remainder` | `even`: sizes differ by one at most; `short`: one is short; `fill`: more pairs in both orders | `even` |
| `seed` | the same seed draws the same questionnaires from the same responses | 0 |
| `checks`, `gold` | attention checks and gold items in each questionnaire | 0 |
| `items` | expert campaigns: `{"rule": "least"/"minimal"/"picked", "n": n, "picked": [item ids]}` | least, 30 |
| `chosen_pairs` | pairs to show instead of drawn ones, each two response ids of one topic | none |

Other keys belong to other modules (`check_texts`: annotation/quality, `placement`: analysis/placement) and are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from writing.enums import Origin

from .problems import BadCampaign

LEAST, MINIMAL, PICKED = "least", "minimal", "picked"
RULES: Final = (LEAST, MINIMAL, PICKED)
EVEN, SHORT, FILL = "even", "short", "fill"
REMAINDERS: Final = (EVEN, SHORT, FILL)
ALL: Final = "all"
MOST_ITEMS: Final = 100
MOST_EXTRA: Final = 10
MOST: Final = 1_000_000
MOST_SEED: Final = 2**31 - 1


@dataclass(frozen=True)
class Design:
    """The parameters of drawing a campaign's questionnaires."""

    topics: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    topic_sample: int | None = None
    pairs_per_topic: int | None = None
    reverse_share: float = 1 / 3
    items_per_questionnaire: int = 15
    remainder: str = EVEN
    seed: int = 0
    checks: int = 0
    gold: int = 0
    rule: str = LEAST
    rule_items: int = 30
    picked: tuple[int, ...] = ()
    chosen_pairs: tuple[tuple[str, str], ...] = ()


def read_design(kept: Mapping[str, Any]) -> Design:
    """Return the stored design of a campaign, with defaults for missing keys."""
    usual = Design()
    responses, items = kept.get("responses") or {}, kept.get("items") or {}
    pairs = kept.get("pairs", ALL)
    return Design(
        topics=tuple(responses.get("topics", ())),
        styles=tuple(responses.get("styles", ())),
        origins=tuple(responses.get("origins", ())),
        topic_sample=responses.get("topic_sample"),
        pairs_per_topic=None if pairs == ALL else pairs,
        **{name: kept.get(name, getattr(usual, name)) for name in _PLAIN},
        rule=items.get("rule", usual.rule),
        rule_items=items.get("n", usual.rule_items),
        picked=tuple(items.get("picked", ())),
        chosen_pairs=tuple((first, second) for first, second in kept.get("chosen_pairs", ())),
    )


def dump_design(design: Design, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return a design as stored with the campaign, together with the stored keys of other modules."""
    others = {key: value for key, value in kept.items() if key != "chosen_pairs"}
    return {
        **others,
        "responses": {
            "topics": list(design.topics),
            "styles": list(design.styles),
            "origins": list(design.origins),
            "topic_sample": design.topic_sample,
        },
        "pairs": ALL if design.pairs_per_topic is None else design.pairs_per_topic,
        **{name: getattr(design, name) for name in _PLAIN},
        "items": {"rule": design.rule, "n": design.rule_items, "picked": list(design.picked)},
        **({"chosen_pairs": [list(pair) for pair in design.chosen_pairs]} if design.chosen_pairs else {}),
    }


def limits(name: str) -> dict[str, Any]:
    """Return the range of a numeric parameter, as keyword arguments of form and serializer fields."""
    low, high = _RANGES[name]
    return {"min_value": low, "max_value": high}


def check_design(design: Design) -> Design:
    """Return a valid design, with duplicates removed from its lists.

    Raises
    ------
    BadCampaign
        with the problem of each field.
    """
    problems = {
        name: f"Enter a number from {low} to {high}."
        for name, (low, high) in _RANGES.items()
        if not _within(getattr(design, name), low, high, optional=name in _OPTIONAL)
    }
    for name, known in (("remainder", REMAINDERS), ("rule", RULES)):
        if getattr(design, name) not in known:
            problems[name] = "Choose one of: {names}.".format(names=", ".join(known))
    if unknown := [each for each in design.origins if each not in Origin.values]:
        problems["origins"] = "There is no origin called {names}.".format(names=", ".join(unknown))
    if problems:
        raise BadCampaign(problems)
    return replace(
        design,
        topics=tuple(dict.fromkeys(design.topics)),
        styles=tuple(dict.fromkeys(design.styles)),
        origins=tuple(dict.fromkeys(design.origins)),
        picked=tuple(dict.fromkeys(design.picked)),
        chosen_pairs=_distinct(design.chosen_pairs),
    )


def _distinct(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return each pair once, in the order that comes first."""
    first: dict[frozenset[str], tuple[str, str]] = {}
    for pair in pairs:
        first.setdefault(frozenset(pair), pair)
    return tuple(first.values())


def _within(value: Any, low: float, high: float, *, optional: bool) -> bool:
    if value is None:
        return optional
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and low <= value <= high


_PLAIN: Final = ("reverse_share", "items_per_questionnaire", "remainder", "seed", "checks", "gold")
_OPTIONAL: Final = ("topic_sample", "pairs_per_topic")
_RANGES: Final[dict[str, tuple[float, float]]] = {
    "topic_sample": (1, MOST),
    "pairs_per_topic": (1, MOST),
    "reverse_share": (0, 1),
    "items_per_questionnaire": (1, MOST_ITEMS),
    "seed": (0, MOST_SEED),
    "checks": (0, MOST_EXTRA),
    "gold": (0, MOST_EXTRA),
    "rule_items": (1, MOST),
}
assert {*_PLAIN, *_OPTIONAL} <= {field.name for field in fields(Design)}
