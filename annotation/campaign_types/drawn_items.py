"""What is drawn for a campaign, as far as drawing and packing need it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResponseText:
    """A response, as far as drawing needs it."""

    key: int
    topic: int
    origin: str
    words: int


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """What is judged in one step: `a` left and `b` right, or only `a` in campaigns that do not compare."""

    a: ResponseText
    b: ResponseText | None = None

    @property
    def topic(self) -> int:
        """The topic of the responses."""
        return self.a.topic

    @property
    def words(self) -> int:
        """Number of words to read."""
        return self.a.words + (self.b.words if self.b else 0)

    @property
    def combination(self) -> tuple[str, ...]:
        """The origins of its texts, sorted."""
        return tuple(sorted(text.origin for text in (self.a, self.b) if text))

    @property
    def both(self) -> tuple[int, ...]:
        """The keys of its texts, sorted: equal for the two orders of a pair."""
        return tuple(sorted(text.key for text in (self.a, self.b) if text))

    @property
    def reverse(self) -> "DrawnItem":
        """The same texts in the other order."""
        return self if self.b is None else DrawnItem(self.b, self.a)
