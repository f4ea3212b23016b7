"""What is known of a platform, and what it is told."""

from .event import PlatformEvent
from .order import PlatformOrder
from .study import PlatformStudy
from .submission import Submission

__all__ = ["PlatformEvent", "PlatformOrder", "PlatformStudy", "Submission"]
