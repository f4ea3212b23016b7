"""What the system assumes of the clocks of its machines."""

from datetime import timedelta
from typing import Final

#: Clocks of machines differ by less. A stored time that is further ahead than any rule writes it, by more than this,
#: was written before a clock was set back. It no longer counts; otherwise it would hold its row until the clock is
#: there again.
CLOCK_DIFFERENCE: Final = timedelta(minutes=1)
