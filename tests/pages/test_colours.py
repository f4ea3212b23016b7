import json
import re

import pytest

from tests.pages.tokens import DARK_BY_CHOICE, DARK_BY_SYSTEM, LIGHT, ROOT, THEMES, contrast

GROUNDS = ("paper", "surface", "sunken", "hover")
STATES = ("good", "warn", "bad", "info", "sim")

# Text on what it is written on: 4.5 (WCAG 2.2, 1.4.3).
TEXT = [(ink, ground) for ink in ("ink", "ink-soft", "ink-faint") for ground in GROUNDS]
TEXT += [("accent", ground) for ground in (*GROUNDS, "accent-soft")]
TEXT += [("accent-strong", ground) for ground in (*GROUNDS, "accent-soft")]
TEXT += [(state, f"{state}-soft") for state in STATES]
TEXT += [("bad", "paper"), ("bad", "surface"), ("ink-soft", "muted-soft"), ("ink", "mark"), ("ink", "accent-soft")]
TEXT += [(ink, f"{state}-soft") for state in STATES for ink in ("ink", "accent")]
TEXT += [
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("accent-strong", "mark"),
    ("ink-faint", "muted-soft"),
]

# Edges of controls, focus rings, marks of charts on what they stand on: 3 (1.4.11).
MARKS = [(mark, ground) for mark in ("edge", "focus", "accent") for ground in ("paper", "surface", "sunken")]
MARKS += [(mark, "surface") for mark in ("human", "model", "system", "label-a", "label-n", "label-b", *STATES)]
MARKS += [("accent", "muted-soft"), ("good", "muted-soft"), ("bad", "muted-soft"), ("focus", "bad-soft")]


def below(least: float, pairs: list[tuple[str, str]]) -> dict[tuple[str, str, str], float]:
    """The pairs of colours, in each theme, whose contrast is lower than it has to be."""
    ratios = {
        (theme, front, ground): contrast(tokens[front], tokens[ground])
        for theme, tokens in THEMES.items()
        for front, ground in pairs
    }
    return {pair: ratio for pair, ratio in ratios.items() if ratio < least}


def test_text_can_be_read() -> None:
    assert below(4.5, TEXT) == {}


def test_marks_can_be_seen() -> None:
    assert below(3, MARKS) == {}


def test_contrast_is_computed_as_defined() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)


def test_dark_is_the_same_by_system_and_by_choice() -> None:
    assert DARK_BY_SYSTEM == DARK_BY_CHOICE
    colours = {name for name, value in LIGHT.items() if value.startswith(("#", "rgb")) or "rgb(" in value}
    assert colours == set(DARK_BY_CHOICE)


# Swagger UI wears its own colours: it is light by any light.
FRAMED = {"api.css"}


def test_only_tokens_name_colours() -> None:
    named = {}
    for path in sorted((ROOT / "static/css").glob("*.css")):
        if path.name in {"tokens.css", "print.css", *FRAMED}:
            continue
        rules = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        if found := re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s,)])|rgba?\(|hsla?\(", rules):
            named[path.name] = found
    assert named == {}


def test_every_token_that_is_used_exists() -> None:
    used = set()
    for path in set((ROOT / "static/css").glob("*.css")) - {ROOT / "static/css" / name for name in FRAMED}:
        used |= set(re.findall(r"var\(--([\w-]+)", path.read_text()))
    scripts = "".join(path.read_text() for path in (ROOT / "static/js").rglob("*.js"))
    assert used - set(LIGHT) - set(re.findall(r'setProperty\("--([\w-]+)"', scripts)) == set()


def test_charts_wear_the_tokens() -> None:
    theme = json.loads((ROOT / "static/charts/theme.json").read_text())
    assert set(theme) == {"light", "dark", "categories"}
    for name, tokens in THEMES.items():
        known = {value for value in tokens.values() if value.startswith("#")}
        assert set(re.findall(r"#[0-9a-f]{6}", json.dumps(theme[name]))) <= known
        assert theme[name]["background"] == tokens["surface"]
        assert theme["categories"][name] == {
            "human": tokens["human"],
            "model": tokens["model"],
            "system": tokens["system"],
            "a": tokens["label-a"],
            "n": tokens["label-n"],
            "b": tokens["label-b"],
        }
