"""Whether something that people are to work by can be opened to them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Readiness:
    """What keeps something from being opened, and what one should know before one opens it."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        """Whether it can be opened."""
        return not self.problems
