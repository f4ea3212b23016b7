"""What shows how somebody judges: attention checks, items with known labels, items to learn from.

`attention` writes the checks and places them, `gold` picks items with known labels and places them, `training` asks
new judges and tells them what was expected; `evidence` says how the first two were answered. The builder of
questionnaires calls `place_gold`, then `place_checks`, since a check stands below an item.
"""

from .attention import place_checks, told
from .gold import place_gold

__all__ = ["place_checks", "place_gold", "told"]
