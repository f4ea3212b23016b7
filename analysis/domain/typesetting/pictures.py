"""Charts as SVG that can stand inside another document: no script, no link, no style, ids of their own."""

import re
from functools import partial
from xml.etree import ElementTree as ET

from .characters import visible

_SVG = "http://www.w3.org/2000/svg"
_ELEMENTS = {"g", "path", "rect", "line", "circle", "text", "tspan", "defs", "clipPath", "linearGradient", "stop"}
_ATTRIBUTES = {
    "id", "width", "height", "viewBox", "transform", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r",
    "rx", "ry", "points", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
    "stroke-miterlimit", "stroke-opacity", "stroke-linecap", "stroke-linejoin", "opacity", "clip-path", "offset",
    "stop-color", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline",
}  # fmt: skip
_LOCAL = re.compile(r"url\(#([^)]*)\)")


def clean(svg: str, *, prefix: str, alt: str) -> str:
    """Keep of an SVG what draws: elements and attributes that are known to be harmless.

    Its ids begin with `prefix`, so that two may share a page; `alt` says what one sees.

    Raises
    ------
    ValueError
        If this is no SVG.
    """
    ET.register_namespace("", _SVG)
    root = ET.fromstring(svg)  # noqa: S314 -- drawn by ourselves; no entity, no DTD
    if root.tag != f"{{{_SVG}}}svg":
        raise ValueError("This is no SVG.")
    _sift(root, prefix)
    root.set("role", "img")
    root.set("aria-label", alt)
    return ET.tostring(root, encoding="unicode")


def _sift(element: ET.Element, prefix: str) -> None:
    for child in list(element):
        name = str(child.tag).removeprefix(f"{{{_SVG}}}")
        if name in _ELEMENTS:
            _sift(child, prefix)
        else:
            element.remove(child)
    for key, value in list(element.attrib.items()):
        if key not in _ATTRIBUTES or (local := _mine(value, prefix)) is None:
            del element.attrib[key]
        else:
            element.set(key, f"{prefix}-{value}" if key == "id" else local)
    element.text = visible(element.text) if element.text else None
    element.tail = None if element.tail is None or not element.tail.strip() else visible(element.tail)


def _mine(value: str, prefix: str) -> str | None:
    """Point `url(#id)` at the renamed id; None for what points anywhere else."""
    local = _LOCAL.sub(partial(_renamed, prefix), value)
    return None if "url(" in _LOCAL.sub("", local) or "javascript:" in value.lower() else local


def _renamed(prefix: str, found: re.Match[str]) -> str:
    return f"url(#{prefix}-{found[1]})"
