"""A text, and what is shown at once: two texts side by side, or one alone."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """What drawing knows of a response."""

    key: int
    topic: int
    origin: str
    words: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is judged at once: `a` left and `b` right, or `a` alone where responses are judged one by one."""

    a: Text
    b: Text | None = None

    @property
    def topic(self) -> int:
        """The topic that both answer."""
        return self.a.topic

    @property
    def words(self) -> int:
        """How much there is to read."""
        return self.a.words + (self.b.words if self.b else 0)

    @property
    def combination(self) -> tuple[str, ...]:
        """The origins of its texts, whichever stands left."""
        return tuple(sorted(text.origin for text in (self.a, self.b) if text))

    @property
    def both(self) -> tuple[int, ...]:
        """The keys of its texts, whichever stands left: equal for the two orders of a pair."""
        return tuple(sorted(text.key for text in (self.a, self.b) if text))

    @property
    def reverse(self) -> "Drawn":
        """The same texts the other way round."""
        return self if self.b is None else Drawn(self.b, self.a)
