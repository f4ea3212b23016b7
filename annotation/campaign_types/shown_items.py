"""What judges see of an item: the query with responses or other texts. Nothing reveals who wrote a response."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext

from ..models import Item, Questionnaire
from . import response_layout
from .support import statement_texts
from .support.statement_texts import CitedStatement, StatementText

SIDES = ("A", "B")


@dataclass(frozen=True)
class Side:
    """A text as shown: "A" is left. A response that is judged alone has no name.

    `title` is what it is called if it is no response. `whole` is the text that it was taken from.
    """

    name: str
    text: str
    title: str = ""
    whole: str = ""

    @cached_property
    def blocks(self) -> tuple[response_layout.TextBlock, ...]:
        """The text as blocks."""
        return response_layout.blocks(self.text)

    @property
    def is_gone(self) -> bool:
        """Whether the text was erased at its writer's request."""
        return not self.text


@dataclass(frozen=True, slots=True)
class ShownItem:
    """What is judged: a query with one or two responses; `is_gone` if one was erased at its writer's request."""

    item: int
    query: str
    narrative: str
    sides: tuple[Side, ...]
    is_gone: bool = False


def show_item(item: Item) -> ShownItem:
    """Return the content of an item. Prefetch its topic, response and pair's responses (`TEXTS`)."""
    pair = None if item.pair is None else (item.pair.a, item.pair.b)
    responses = pair or ([] if item.response is None else [item.response])
    texts, gone = [one.text for one in responses], any(one.erased_at for one in responses)
    cited = _cited(item.response_id, item.statement, item.retrieved_id)
    sides = _sides(texts) if cited is None else _statement_sides(statement_texts.load_texts([cited])[cited])
    return ShownItem(item.pk, item.topic.query, item.topic.narrative, sides, gone)


def _sides(texts: Sequence[str]) -> tuple[Side, ...]:
    """Return the texts of a pair, or of a response alone, as shown."""
    names = SIDES if len(texts) == len(SIDES) else ("",) * len(texts)
    return tuple(Side(name, text) for name, text in zip(names, texts, strict=True))


def _cited(response: int | None, statement: int | None, retrieved: int | None) -> CitedStatement | None:
    if response is None or statement is None or retrieved is None:
        return None
    return (response, statement, retrieved)


def _statement_sides(shown: StatementText) -> tuple[Side, ...]:
    """Return a statement and the passage that it cites, as shown."""
    passage = gettext("Passage %(number)s") % {"number": shown.number}
    statement = Side(SIDES[0], shown.statement, gettext("Statement"), whole=shown.response)
    return (statement, Side(SIDES[1], shown.passage, passage))


# Relations of an item that `show_item` reads.
TEXTS = ("topic", "response", "pair__a", "pair__b")
# The columns that it reads, of an entry. Rows of these take a fraction of the time of so many instances.
_SHOWN_COLUMNS = (
    "item_id",
    "item__topic__query",
    "item__topic__narrative",
    "item__pair__a__text",
    "item__pair__a__erased_at",
    "item__pair__b__text",
    "item__pair__b__erased_at",
    "item__response__text",
    "item__response__erased_at",
    "item__response",
    "item__statement",
    "item__retrieved",
)


def show_entries(questionnaire: Questionnaire) -> Iterator[tuple[int, ShownItem]]:
    """Yield each entry's position, and what `show_item` returns for its item, in order."""
    rows = list(questionnaire.entries.order_by("position").values_list("position", *_SHOWN_COLUMNS))
    cited = {row[1]: key for row in rows if (key := _cited(*row[-3:])) is not None}
    statements = statement_texts.load_texts(cited.values()) if cited else {}
    for position, item, query, narrative, a, a_erased, b, b_erased, alone, alone_erased, *_statement in rows:
        texts = [text for text in (a, b, alone) if text is not None]
        sides = _statement_sides(statements[cited[item]]) if item in cited else _sides(texts)
        yield position, ShownItem(item, query, narrative, sides, bool(a_erased or b_erased or alone_erased))
