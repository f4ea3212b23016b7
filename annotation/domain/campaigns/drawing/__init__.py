"""Drawing what is judged, and by whom together: pure functions of texts and a random generator, without a database.

| module | what |
|---|---|
| `things` | a text, and what is shown at once |
| `pairing` | which pairs, and which of them in both orders |
| `siding` | who stands left: each response as often as right |
| `packing` | questionnaires that are equally long, with topics, origins and sides spread over them |
| `measuring` | what was reached, to be said and tested |
"""

from .measuring import Measures, measure
from .packing import CannotSeparate, order, pack, sizes
from .pairing import both_orders, pairs, reversed_count, systematic
from .siding import sides
from .things import Drawn, Text

__all__ = [
    "CannotSeparate",
    "Drawn",
    "Measures",
    "Text",
    "both_orders",
    "measure",
    "order",
    "pack",
    "pairs",
    "reversed_count",
    "sides",
    "sizes",
    "systematic",
]
