"""Reads the tokens of static/css/tokens.css and computes contrast as WCAG 2.2 defines it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKENS = (ROOT / "static/css/tokens.css").read_text()


def block(selector: str) -> dict[str, str]:
    """The custom properties of the first block that starts with this selector."""
    start = TOKENS.index(selector + " {")
    body = TOKENS[start : TOKENS.index("}", start)]
    return {name: " ".join(value.split()) for name, value in re.findall(r"--([\w-]+):\s*([^;]+);", body)}


LIGHT = block(":root")
DARK_BY_SYSTEM = block(':root:not([data-theme="light"])')
DARK_BY_CHOICE = block(':root[data-theme="dark"]')
THEMES = {"light": LIGHT, "dark": LIGHT | DARK_BY_CHOICE}


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2, definitions)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
