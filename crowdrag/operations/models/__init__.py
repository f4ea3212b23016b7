"""Tables of operations, one model a file."""

from .backup import Backup
from .machine import Machine
from .removal import Removal

__all__ = ["Backup", "Machine", "Removal"]
