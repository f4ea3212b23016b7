"""Rendering of Vega-Lite specifications as SVG, PNG or PDF."""

import json
from functools import lru_cache
from typing import Any

from .. import typesetter
from ..typesetter import visible
from .vega_lite import Spec

MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "json": "application/json"}


VEGA_LITE = "6.4"


class UnknownChartError(LookupError):
    """There is no chart of this name, format or theme."""


def draw(spec: Spec, form: str) -> bytes:
    """Render a specification as "svg", "png" or "pdf", or write it as "json".

    Raises
    ------
    UnknownChartError
        If the format does not exist.
    """
    import vl_convert  # starts a JavaScript engine, so import only when drawing

    # A control character in a label would abort the process, so invisible characters are shown by code point.
    spec = spec if form == "json" else _visible(spec)
    if form == "svg":
        return _svg(json.dumps(spec)).encode()
    if form == "png":
        return vl_convert.svg_to_png(_svg(json.dumps(spec)), scale=2)
    if form == "pdf":
        return typesetter.picture_pdf(_svg(json.dumps(spec)), alt=spec["description"])
    if form == "json":
        return json.dumps(spec, ensure_ascii=False, indent=1).encode()
    raise UnknownChartError(f"There is no chart format {form!r}. Formats: {', '.join(MEDIA_TYPES)}.")


# The files of a run hold each chart as SVG, PNG and PDF, and both reports hold it again.
@lru_cache(maxsize=64)
def _svg(spec: str) -> str:
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)


def _visible(part: Any) -> Any:
    """Replace invisible characters in a specification or a part of it."""
    if isinstance(part, str):
        return visible(part)
    if isinstance(part, dict):
        return {_visible(key): _visible(value) for key, value in part.items()}
    return [_visible(item) for item in part] if isinstance(part, list | tuple) else part
