"""Texts behind a run's inputs, one topic at a time: passages as shown, and responses with their statements.

Snapshots outlive an erasure, so they contain digests instead of texts. Texts never change, so the texts read here match
the digests; a text that was erased raises an error.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from django.db.models import CharField, Func

from analysis.text.statements import ParsedResponse, parse
from crowdrag.studies.models import Study
from writing.models import Passage, Response, RetrievedPassage

from .arrays import Inputs


class TextsMissingError(LookupError):
    """A text in the inputs no longer exists."""


@dataclass(frozen=True, eq=False)
class ResponseText:
    """A response with its text.

    Attributes
    ----------
    index : int
        The index of the response in `Inputs.responses`.
    text : str
        As submitted, with markers.
    parsed : ParsedResponse
        Statements with their cited passages, as indices in `passages`.
    passages : tuple of str
        Texts of the passages available to the author, indexed by rank ("" if missing).
    ranking : int
        Index of the list of passages in `Inputs.rankings`; equal for authors with the same passages.
    """

    index: int
    text: str
    parsed: ParsedResponse
    passages: tuple[str, ...]
    ranking: int


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """Responses to one topic, in the order of `Inputs.responses`."""

    topic: str
    responses: tuple[ResponseText, ...]


def digest(text: str) -> str:
    """Return the digest of a text in inputs: the first 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Digest(Func):
    """The same digest computed by the database, without reading the text."""

    template = "left(encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex'), 32)"
    output_field = CharField()


@dataclass(frozen=True)
class Texts:
    """Reader of the texts of a study's inputs, one topic at a time, so that large studies fit into memory.

    Each iteration reads the texts anew, with topics sorted by name.
    """

    study: Study
    inputs: Inputs

    def __iter__(self) -> Iterator[TopicTexts]:
        places = sorted(
            range(len(self.inputs.responses)), key=lambda index: (self.inputs.responses[index].topic, index)
        )
        for topic, group in groupby(places, key=lambda index: self.inputs.responses[index].topic):
            yield self._topic(topic, list(group))

    def _topic(self, topic: str, places: list[int]) -> TopicTexts:
        about = self.inputs.responses
        names = [about[index].name for index in places]
        rows = Response.objects.filter(study=self.study, external_id__in=names).values_list("external_id", "text")
        texts = dict(rows)
        passages = self._passages({about[index].ranking for index in places if about[index].ranking >= 0})
        written = []
        for index in places:
            response = about[index]
            text = texts.get(response.name, "")
            if response.text and digest(text) != response.text:
                raise TextsMissingError(
                    f"The text of response {response.name} no longer exists. It was erased after this run read "
                    "its inputs. Analyse again."
                )
            shown = passages.get(response.ranking, ())
            written.append(ResponseText(index, text, parse(text, passages=len(shown)), shown, response.ranking))
        return TopicTexts(topic, tuple(written))

    def _passages(self, rankings: set[int]) -> dict[int, tuple[str, ...]]:
        """Return the texts of some rankings, looked up among the passages retrieved for the responses' topics."""
        names = {ranking: [self._name(index) for index in self.inputs.rankings[ranking]] for ranking in rankings}
        texts = self._texts_of_passages(rankings) | {"": ""}
        if missing := {name for shown in names.values() for name in shown} - set(texts):
            raise TextsMissingError(f"{len(missing)} passages that this run read no longer exist. Analyse again.")
        return {ranking: tuple(texts[name] for name in shown) for ranking, shown in names.items()}

    def _name(self, index: int) -> str:
        """Return the digest of a passage; "" at a missing rank."""
        return "" if index < 0 else self.inputs.passages[index]

    def _texts_of_passages(self, rankings: set[int]) -> dict[str, str]:
        names = [response.name for response in self.inputs.responses if response.ranking in rankings]
        responses = Response.objects.filter(study=self.study, external_id__in=names)
        # Two queries: a join would repeat each text for every response, and takes ten times as long right after an
        # import, before the database has statistics.
        topics = list(responses.values_list("topic_id", flat=True).distinct())
        shown = RetrievedPassage.objects.filter(topic_id__in=topics).values("passage_id")
        rows = Passage.objects.filter(pk__in=shown)
        return {digest(text): text for text in rows.values_list("text", flat=True)}
