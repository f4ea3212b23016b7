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
    """What is judged in one step: `a` left and `b` right, or only `a` in campaigns that do not compare.

    If only a statement of `a` is judged, `statement` is its position and `retrieved` the key of the retrieved passage,
    and `words_shown` is the number of words to read.
    """

    a: ResponseText
    b: ResponseText | None = None
    statement: int | None = None
    retrieved: int | None = None
    words_shown: int = 0

    @property
    def topic(self) -> int:
        """The topic of the responses."""
        return self.a.topic

    @property
    def words(self) -> int:
        """Number of words to read."""
        return self.words_shown if self.statement is not None else self.a.words + (self.b.words if self.b else 0)

    @property
    def combination(self) -> tuple[str, ...]:
        """The origins of its texts, sorted."""
        return tuple(sorted(text.origin for text in (self.a, self.b) if text))

    @property
    def both(self) -> tuple[int, ...]:
        """The keys of its texts: equal for the two orders of a pair."""
        if self.statement is not None and self.retrieved is not None:
            return (self.a.key, self.statement, self.retrieved)
        return tuple(sorted(text.key for text in (self.a, self.b) if text))

    @property
    def reverse(self) -> "DrawnItem":
        """The same texts in the other order."""
        return self if self.b is None else DrawnItem(self.b, self.a)
