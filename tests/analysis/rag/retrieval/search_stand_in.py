"""A process that answers as OpenSearch and Elasticsearch document it, for the requests that are used here.

    python -m tests.analysis.rag.retrieval.search_stand_in

prints its port. Documents are visible after a refresh; a document with the id of another replaces it; bulk bodies are
NDJSON that ends with a line break, with its media type; unknown fields are refused where the mapping is strict. Scores
are those of our own scan. `POST /_faults` takes a list: each of the next requests to _bulk, _msearch or an index itself
takes one, {"status": 429} for the whole request or {"item": 429} for its first item.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from analysis.rag.protocols import Document
from analysis.rag.retrieval.bm25 import Bm25Settings, scan
from analysis.rag.retrieval.search import DocumentList

INDEXES: dict[str, dict[str, Any]] = {}
FAULTS: list[dict[str, Any]] = []


def error(kind: str, reason: str, status: int) -> tuple[int, Any]:
    return status, {"error": {"type": kind, "reason": reason, "root_cause": []}, "status": status}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers: dict[str, str] = {}
        status, answer = self.answer(body, headers)
        data = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 -- as the library calls them

    def answer(self, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        if self.path == "/_faults":
            FAULTS[:] = json.loads(body)
            return 200, {}
        if self.path == "/_state":
            sizes = {name: len(index["visible"]) for name, index in INDEXES.items()}
            return 200, {"indexes": sizes, "settings": {name: index["body"] for name, index in INDEXES.items()}}
        _, name, *rest = self.path.split("/")
        action = rest[0] if rest else self.command
        fault = FAULTS.pop(0) if FAULTS and action in ("PUT", "_bulk", "_msearch") else {}
        if fault.get("status"):
            headers.update(fault.get("headers", {}))
            return error("circuit_breaking_exception", "planned", fault["status"])
        if action == "PUT":
            return create(name, json.loads(body))
        if name not in INDEXES:
            return error("index_not_found_exception", f"no such index [{name}]", 404)
        if action in ("_bulk", "_msearch"):
            if self.headers["content-type"] != "application/x-ndjson" or not body.endswith(b"\n"):
                return error("illegal_argument_exception", "The request must be terminated by a newline [\\n]", 400)
            lines = [json.loads(line) for line in body.splitlines()]
            pairs = list(zip(lines[::2], lines[1::2], strict=True))
            return 200, (bulk if action == "_bulk" else multi_search)(INDEXES[name], pairs, fault.get("item"))
        return simple(action, name)


def create(name: str, body: dict[str, Any]) -> tuple[int, Any]:
    if name in INDEXES:
        return error("resource_already_exists_exception", f"index [{name}] already exists", 400)
    if body["mappings"]["properties"]["text"]["analyzer"] not in ("english", "standard"):
        return error("mapper_parsing_exception", "analyzer has not been configured in mappings", 400)
    INDEXES[name] = {"body": body, "visible": {}, "written": {}}
    return 200, {"acknowledged": True, "index": name}


def simple(action: str, name: str) -> tuple[int, Any]:
    if action == "DELETE":
        del INDEXES[name]
    elif action == "_refresh":
        INDEXES[name]["visible"] = dict(INDEXES[name]["written"])
    elif action == "_count":
        return 200, {"count": len(INDEXES[name]["visible"])}
    else:
        return error("illegal_argument_exception", f"no handler found for [{action}]", 405)
    return 200, {"acknowledged": True}


def multi_search(index: dict[str, Any], pairs: list[tuple[Any, Any]], fault: int | None) -> dict[str, Any]:
    responses = [search(index, body) for _head, body in pairs]
    if fault:
        responses[0] = {"error": {"type": "rejected_execution_exception", "reason": "planned"}, "status": fault}
    return {"took": 1, "responses": responses}


def bulk(index: dict[str, Any], pairs: list[tuple[Any, Any]], fault: int | None) -> dict[str, Any]:
    items = []
    for number, (head, source) in enumerate(pairs):
        item = {"_id": head["index"]["_id"], "status": 201}
        if fault and not number:
            item |= {"status": fault, "error": {"type": "rejected_execution_exception", "reason": "planned"}}
        elif set(source) != {"text", "place"}:
            item |= {"status": 400, "error": {"type": "strict_dynamic_mapping_exception", "reason": "unknown field"}}
        elif "poison" in source["text"]:
            item |= {"status": 400, "error": {"type": "document_parsing_exception", "reason": "failed to parse"}}
        else:
            index["written"][item["_id"]] = source
        items.append({"index": item})
    return {"took": 1, "errors": any(item["index"]["status"] >= 400 for item in items), "items": items}


def search(index: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    question = body["query"]["match"]["text"]["query"]
    if len(re.findall(r"\w+", question)) > 1024:
        return {"error": {"type": "too_many_nested_clauses", "reason": "maxClauseCount is set to 1024"}, "status": 400}
    assert body["sort"] == [{"_score": "desc"}, {"place": "asc"}]
    assert body["track_scores"] is True
    rows = sorted(index["visible"].values(), key=lambda source: source["place"])
    similarity = index["body"]["settings"]["index"]["similarity"]["default"]
    settings = Bm25Settings(k1=similarity["k1"], b=similarity["b"])
    documents = DocumentList([Document(str(row["place"]), row["text"]) for row in rows])
    found = scan([question], documents, body["size"], settings)
    ranked = zip(found.places[0].tolist(), found.scores[0].tolist(), strict=True)
    hits = [{"_id": str(rows[place]["place"]), "_score": score} for place, score in ranked if place >= 0]
    return {"status": 200, "hits": {"hits": hits}}


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    sys.stdin.close()
    server.serve_forever()
