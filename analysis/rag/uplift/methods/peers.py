"""The eight methods beside uplift RAG, by name, in the order of the paper's Table 1."""

from __future__ import annotations

from collections.abc import Callable

from .aar import Aar
from .adaptive import Adaptive
from .cross_encoder import CrossEncoder
from .dpa import Dpa
from .method import Method, Settings
from .naive import Naive
from .replug import Replug
from .skr import Skr
from .standard import Standard

#: Makes a method from what all methods of a comparison share.
PEERS: dict[str, Callable[[Settings], Method]] = {
    each.name: each for each in (Naive, Standard, CrossEncoder, Aar, Replug, Skr, Adaptive, Dpa)
}
