"""The texts behind a run's inputs, a topic at a time: passages as they were shown, responses with their statements.

Texts are no part of a snapshot, which outlives an erasure; their digests are. What is read here is what was digested:
texts never change, and one that was erased since is an error that says so.
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
    """A text that the inputs name is not there any more."""


@dataclass(frozen=True, eq=False)
class ResponseText:
    """A response with its text.

    Attributes
    ----------
    index : int
        The index of the response in `Inputs.responses`.
    text : str
        As submitted, markers and all.
    parsed : ParsedResponse
        Its statements with the passages that they cite, as indices into `passages`.
    passages : tuple of str
        The texts of the passages that its author had, each at the place that its rank names ("" where one is missing).
    ranking : int
        Which list of passages these are (`Inputs.rankings`): equal for responses whose authors had the same.
    """

    index: int
    text: str
    parsed: ParsedResponse
    passages: tuple[str, ...]
    ranking: int


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """The responses of one topic, in the order of `Inputs.responses`."""

    topic: str
    responses: tuple[ResponseText, ...]


def digest(text: str) -> str:
    """The digest of a text in inputs: the first 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Digest(Func):
    """The digest of a text, as `digest` makes it, by the database: the text stays there."""

    template = "left(encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex'), 32)"
    output_field = CharField()


@dataclass(frozen=True)
class Texts:
    """Reads the texts of a study's inputs, a topic at a time, so that a large study fits into memory.

    Iterating yields the topics in the order of their names, each time anew.
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
        """The texts of some rankings. They are looked up by what was retrieved for the topics' responses."""
        names = {ranking: [self._name(index) for index in self.inputs.rankings[ranking]] for ranking in rankings}
        texts = self._texts_of_passages(rankings) | {"": ""}
        if missing := {name for shown in names.values() for name in shown} - set(texts):
            raise TextsMissingError(f"{len(missing)} passages that this run read no longer exist. Analyse again.")
        return {ranking: tuple(texts[name] for name in shown) for ranking, shown in names.items()}

    def _name(self, index: int) -> str:
        """The digest of a passage; of a rank that was left out, none."""
        return "" if index < 0 else self.inputs.passages[index]

    def _texts_of_passages(self, rankings: set[int]) -> dict[str, str]:
        names = [response.name for response in self.inputs.responses if response.ranking in rankings]
        responses = Response.objects.filter(study=self.study, external_id__in=names)
        # Two queries, not one joined from responses to passages: there each text would stand once a response, and right
        # after an import, while the database knows nothing of its tables yet, that takes ten times as long.
        topics = list(responses.values_list("topic_id", flat=True).distinct())
        shown = RetrievedPassage.objects.filter(topic_id__in=topics).values("passage_id")
        rows = Passage.objects.filter(pk__in=shown)
        return {digest(text): text for text in rows.values_list("text", flat=True)}
