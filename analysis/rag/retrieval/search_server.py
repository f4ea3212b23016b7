"""OpenSearch and Elasticsearch as retrieval engines, over HTTP: bulk requests, refresh, count and multi-search.

Both servers have these five requests in common. A document's id on the server is its position in the corpus, so a part
of a corpus that is sent twice changes nothing. Servers that are busy (429, 502, 503, 504, or single documents of a bulk
with 429) are asked again after a while.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import httpx2
import numpy as np
from numpy.typing import NDArray

from ..protocols import Floats
from .search import Documents, SearchResults, passage, results_of

Report = Callable[[int, int, str], None]
Sleep = Callable[[float], None]

#: Bytes of documents in one bulk request, and questions in one multi-search.
BULK_BYTES, QUESTIONS = 4 << 20, 32
#: Times that a request is sent before giving up, and the first and longest pause between them, in seconds.
TRIES, FIRST_PAUSE, LONGEST_PAUSE = 8, 0.5, 30.0
#: Seconds that a server has for one answer.
TIMEOUT = 120.0
_BUSY = frozenset({429, 502, 503, 504})
_JSON, _LINES = "application/json", "application/x-ndjson"
# Documents that are read at once.
_BLOCK = 512


#: Addresses of the servers by the names that stand after `opensearch:`, as far as the operator allows them.
SERVERS: dict[str, str] = {}


class SearchServerError(RuntimeError):
    """The server refuses a request or cannot be reached."""


@dataclass(frozen=True)
class ServerSettings:
    """How the server weighs and analyses words.

    Attributes
    ----------
    k1, b : float
        Of BM25. Default: the servers' own.
    analyzer : str
        One of the server's, `english` or `standard`, for example.
    """

    k1: float = 1.2
    b: float = 0.75
    analyzer: str = "english"

    def __post_init__(self) -> None:
        if not self.k1 >= 0:
            raise ValueError(f"k1 must be 0 or more, not {self.k1}")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b must be from 0 to 1, not {self.b}")
        if not self.analyzer.replace("_", "").isalnum():
            raise ValueError(f"analyzer must be the name of an analyzer, not {self.analyzer!r}")


class SearchServer:
    """A server. It is a context manager.

    Parameters
    ----------
    url : str
        Its address, with user and password if it needs them.
    sleep : callable(seconds), optional
        Waits between two tries.
    """

    def __init__(self, url: str, *, sleep: Sleep = time.sleep) -> None:
        self._client = httpx2.Client(base_url=url, timeout=TIMEOUT)
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._client.close()

    def create(self, index: str, settings: ServerSettings) -> None:
        """Create an index, unless it exists.

        Raises
        ------
        SearchServerError
            As all methods here: if the server refuses the request, or is busy too long.
        """
        similarity = {"default": {"type": "BM25", "k1": settings.k1, "b": settings.b}}
        text = {"type": "text", "analyzer": settings.analyzer}
        body = {
            # Refreshed once, when all documents are there.
            "settings": {"index": {"similarity": similarity, "refresh_interval": "-1"}},
            "mappings": {"dynamic": "strict", "properties": {"text": text, "place": {"type": "integer"}}},
        }
        response = self._send("PUT", f"/{index}", json.dumps(body).encode(), refused=(400,))
        if response.status_code >= 400 and _reason(response.json()).find("already_exists") < 0:
            raise SearchServerError(f"The search server refuses the index: {_reason(response.json())}.")

    def add(self, index: str, documents: Documents, first: int, last: int, report: Report) -> None:
        """Send the documents of a part of a corpus; `first` and `last` as for `Documents.blocks`."""
        batch: dict[int, bytes] = {}
        size = 0
        for start, block in documents.blocks(_BLOCK, first, last):
            report(start - first, last - first, "Sending documents")
            for position, document in enumerate(block, start):
                source = {"text": passage(document), "place": position}
                action = json.dumps({"index": {"_id": str(position)}})
                batch[position] = f"{action}\n{json.dumps(source, ensure_ascii=False)}\n".encode()
                size += len(batch[position])
                if size >= BULK_BYTES:
                    self._bulk(index, batch)
                    batch, size = {}, 0
        if batch:
            self._bulk(index, batch)

    def finish(self, index: str, n: int) -> None:
        """Make all documents of an index visible to searches, and check that there are n.

        Raises
        ------
        SearchServerError
            If there are not as many.
        """
        self._send("POST", f"/{index}/_refresh")
        if (count := self.count(index)) != n:
            raise SearchServerError(f"The search server has {count:,} of {n:,} documents. Build the index again.")

    def count(self, index: str) -> int:
        """Return the number of an index's documents."""
        return int(self._send("GET", f"/{index}/_count").json()["count"])

    def delete(self, index: str) -> None:
        """Delete an index if it exists."""
        self._send("DELETE", f"/{index}", refused=(404,))

    def search(self, index: str, questions: Sequence[str], n: int) -> SearchResults:
        """Find the best n documents for each question; only those that share a word with it, ties by position."""
        rankings: list[tuple[NDArray[np.int64], Floats]] = []
        for start in range(0, len(questions), QUESTIONS):
            rankings += self._multi_search(index, questions[start : start + QUESTIONS], n)
        return results_of(rankings, n)

    def _multi_search(self, index: str, questions: Sequence[str], n: int) -> list[tuple[NDArray[np.int64], Floats]]:
        lines: list[bytes] = []
        for question in questions:
            body = {
                "query": {"match": {"text": {"query": question}}}, "size": n, "_source": False,
                "track_total_hits": False, "track_scores": True, "sort": [{"_score": "desc"}, {"place": "asc"}],
            }  # fmt: skip
            lines.append(f"{{}}\n{json.dumps(body, ensure_ascii=False)}\n".encode())
        answers: dict[int, Any] = {}
        for failures in self._tries():
            open_numbers = [number for number in range(len(lines)) if number not in answers]
            body_bytes = b"".join(lines[number] for number in open_numbers)
            rows = self._send("POST", f"/{index}/_msearch", body_bytes, media_type=_LINES).json()["responses"]
            numbered = zip(open_numbers, rows, strict=True)
            answers |= {number: row for number, row in numbered if row.get("status", 200) not in _BUSY}
            if len(answers) == len(lines):
                break
            self._sleep(_pause(failures, None))
        return [_found(answers[number]) for number in range(len(lines))]

    def _bulk(self, index: str, batch: dict[int, bytes]) -> None:
        """Send documents by position; those for which the server was too busy are sent again."""
        left = batch
        for failures in self._tries():
            body = b"".join(left.values())
            answer = self._send("POST", f"/{index}/_bulk", body, media_type=_LINES).json()
            if not answer["errors"]:
                return
            busy = {}
            for row in answer["items"]:
                result = row["index"]
                if result["status"] in _BUSY:
                    busy[int(result["_id"])] = left[int(result["_id"])]
                elif result["status"] >= 400:
                    raise SearchServerError(
                        f"The search server refuses document {int(result['_id']) + 1}: {_reason(result)}."
                    )
            if not busy:
                return
            left = busy
            self._sleep(_pause(failures, None))

    def _tries(self) -> Iterator[int]:
        """Count tries from 1, and give up after the last one."""
        yield from range(1, TRIES + 1)
        raise SearchServerError(f"The search server is too busy: {TRIES} tries failed.")

    def _send(
        self, method: str, path: str, body: bytes | None = None, *, media_type: str = _JSON,
        refused: Sequence[int] = (),
    ) -> httpx2.Response:  # fmt: skip
        """Send a request until the server is not busy; a status from 400 on is an error unless it is in `refused`."""
        headers = {"content-type": media_type} if body is not None else {}
        problem = ""
        for failures in range(1, TRIES + 1):
            retry_after: float | None = None
            try:
                response = self._client.request(method, path, content=body, headers=headers)
            except httpx2.TransportError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if response.status_code < 400 or response.status_code in refused:
                    return response
                problem = f"status {response.status_code}"
                if response.status_code not in _BUSY:
                    raise SearchServerError(f"The search server refuses {method} {path}: {problem}, {_text(response)}.")
                retry_after = _seconds(response.headers.get("retry-after", ""))
            if failures < TRIES:
                self._sleep(_pause(failures, retry_after))
        raise SearchServerError(f"The search server does not answer after {TRIES} tries: {problem}.")


def _pause(failures: int, retry_after: float | None) -> float:
    return float(min(retry_after if retry_after is not None else FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE))


def _seconds(text: str) -> float | None:
    try:
        return max(0.0, float(text))
    except ValueError:
        return None


def _found(row: dict[str, Any]) -> tuple[NDArray[np.int64], Floats]:
    if "hits" not in row:
        raise SearchServerError(f"The search server refuses a question: {_reason(row)}.")
    hits = row["hits"]["hits"]
    places = np.array([int(hit["_id"]) for hit in hits], dtype=np.int64)
    return places, np.array([float(hit["_score"]) for hit in hits], dtype=np.float64)


def _reason(answer: dict[str, Any]) -> str:
    """Return what an answer says is wrong: type and reason of its error."""
    error = answer.get("error")
    if not isinstance(error, dict):
        return str(error or answer)[:300]
    return f"{error.get('type', 'error')}, {error.get('reason', '')}"[:300]


def _text(response: httpx2.Response) -> str:
    try:
        return _reason(cast("dict[str, Any]", response.json()))
    except ValueError:
        return response.text[:300]


class ServerIndex:
    """An index on a server as a searcher of its corpus.

    Parameters
    ----------
    server : SearchServer
    index : str
        Its name on the server.
    name : str
        Name of the searcher.
    """

    def __init__(self, server: SearchServer, index: str, name: str) -> None:
        self._server, self._index, self.name = server, index, name
        self._n = server.count(index)

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        """Find the best documents for each question; the documents themselves are not read.

        Raises
        ------
        ValueError
            If these are not as many documents as were indexed, or n is below 1.
        SearchServerError
            As `SearchServer.create`.
        """
        if len(documents) != self._n:
            raise ValueError(f"the index is of {self._n} documents, not of {len(documents)}")
        if n < 1:
            raise ValueError("a search finds at least one document: n is 1 or more")
        return self._server.search(self._index, questions, n)
