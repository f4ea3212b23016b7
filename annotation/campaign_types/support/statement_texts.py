"""The statements of responses with the passages that they cite, as texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from writing.models import Citation, Passage, Response, RetrievedPassage, Statement

#: A response, the position of a statement in it, and the retrieved passage.
CitedStatement = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class StatementText:
    """A statement with its whole response, and the cited passage with its number in the response.

    `statement` is empty if the response was erased at its writer's request.
    """

    statement: str
    response: str
    passage: str
    number: int

    @property
    def words(self) -> int:
        """Number of words to read: the statement's and the passage's."""
        return len(self.statement.split()) + len(self.passage.split())


def cited_statements(responses: Iterable[int]) -> list[CitedStatement]:
    """Return each statement of these responses with each passage that it cites, in the order of the text."""
    rows = Citation.objects.filter(statement__response__in=list(responses))
    rows = rows.order_by("statement__response", "statement__position", "retrieved__rank", "pk")
    return list(rows.values_list("statement__response", "statement__position", "retrieved"))


def load_texts(cited: Iterable[CitedStatement]) -> Mapping[CitedStatement, StatementText]:
    """Return the texts of statements with their passages."""
    rows_of_items = list(cited)
    responses = {response for response, _position, _retrieved in rows_of_items}
    whole = dict(Response.objects.filter(pk__in=responses).values_list("pk", "text"))
    columns = ("response", "position", "start", "end", "closing")
    spans = {
        (response, position): whole[response][start:end] + closing
        for response, position, start, end, closing in Statement.objects.filter(response__in=responses).values_list(
            *columns
        )
    }
    retrieved = RetrievedPassage.objects.filter(pk__in={key for _response, _position, key in rows_of_items})
    ranks = {pk: (rank, passage) for pk, rank, passage in retrieved.values_list("pk", "rank", "passage")}
    texts = dict(
        Passage.objects.filter(pk__in={passage for _rank, passage in ranks.values()}).values_list("pk", "text")
    )
    return {
        row: StatementText(spans.get(row[:2], ""), whole[row[0]], texts[ranks[row[2]][1]], ranks[row[2]][0])
        for row in rows_of_items
    }
