"""A stand-in for Prolific's API: a real HTTP server that keeps the rules which Prolific documents, and its oddities.

By hand: `python tests/recruitment/prolific_server.py 8099`, then start the system with
`CROWDRAG_PROLIFIC_URL=http://127.0.0.1:8099/api/v1/ CROWDRAG_PROLIFIC_LOOPBACK=1 CROWDRAG_PROLIFIC_TOKEN=token`.
What people do there is done with `POST /people/...` (see `People`), which the real one of course has not.

Which rule comes from where (docs.prolific.com/api-reference unless said otherwise; read in November 2026):

- `Authorization: Token <token>`; 401 without, 404 for what there is not, 400 and 422 for what is wrong, 429 with words
  to come back later: get-started/api-fundamentals, core-concepts/managing-high-loads.
- A study is made as a draft and published in a second step; statuses; the three placeholders; at least one completion
  code, each unique: studies/create-study, studies/the-study-object.
- PUBLISH, PAUSE, START, STOP: studies/publish-study; the official command line (prolific-oss/cli, model/study.go).
- Once published, only `internal_name` and `total_available_places` change, and places go up only; a study whose places
  are gone falls into AWAITING REVIEW and wakes when places are added; a status may read PROCESSING for a moment:
  Mephisto's list of oddities (mephisto.ai, prolific_api_oddities, 2023).
- Submission statuses; RETURNED and REJECTED free the place: submissions/submission-object. Someone timed out can still
  finish: researcher-help 360009094694 (shared/reliability.md, B4).
- REJECT needs a category and a message of 100 characters or more; a decision is final; the same transition again is
  ignored; COMPLETE needs a code whose actor is the researcher: submissions/transition-submission.
- Bonuses are set up (nothing is paid), amounts in major units, then paid by another request that is **not idempotent**;
  they show in `bonus_payments` of the submission, in cents, a while later: bonuses/create-bonus-payments,
  bonuses/pay-bonus-payments, submissions/get-submission.
- Lists by `limit` and `offset`: prolific-oss/cli, client.go. Counts by status: studies/get-study-submissions-counts.
- Hooks (sent by deliveries.py): secret, subscription, confirmation with the X-Hook-Secret header, the signature,
  X-Event-ID that stays the same over redeliveries, X-Timestamp, no order promised, any answer but 2xx is tried again:
  webhooks/*.
- The cost: studies/calculate-study-cost. The balance: workspaces/get-workspace-balance. Filters: filters/get-filters.

Not verified against the real one: the exact numbers in `error_code`; the names of the rejection categories beyond
what their documentation lists; that a rejection of a submission which was not handed in is answered 400; the keys of
the counts (taken to be the statuses); the field `return_reason` of the action REQUEST_RETURN; what a fixed screen-out
does to the number of places; the shape of an error of 401.
"""

import json
import secrets
import sys
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "token"
FINAL = {"APPROVED", "REJECTED", "SCREENED OUT", "PARTIALLY APPROVED"}
FREES = {"RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT"}
REQUIRED = ("name", "description", "external_study_url", "prolific_id_option", "completion_codes",
            "estimated_completion_time", "reward", "total_available_places", "device_compatibility")  # fmt: skip
CATEGORIES = {"TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
              "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"}  # fmt: skip
FILTERS = [
    {"filter_id": "approval_rate", "title": "Approval Rate", "type": "range", "min": 0, "max": 100},
    {"filter_id": "approval_numbers", "title": "Number of previous submissions", "type": "range", "max": 10000},
    {"filter_id": "first-language", "title": "First Language", "type": "select",
     "choices": {"19": "English", "20": "German"}},
    {"filter_id": "current-country-of-residence", "title": "Current Country of Residence", "type": "select",
     "choices": {"0": "United Kingdom", "1": "United States", "2": "Ireland", "3": "Australia", "4": "Canada",
                 "5": "New Zealand"}},
]  # fmt: skip
STEPS = {"PUBLISH": ({"UNPUBLISHED"}, "ACTIVE"), "PAUSE": ({"ACTIVE"}, "PAUSED"), "START": ({"PAUSED"}, "ACTIVE"),
         "STOP": ({"ACTIVE", "PAUSED"}, "AWAITING REVIEW")}  # fmt: skip


class Problem(Exception):  # noqa: N818
    """A refusal, in the shape of the platform's errors."""

    def __init__(self, status: int, detail: Any, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.headers = status, headers
        titles = {400: "Bad request", 401: "Unauthorized", 404: "Not found", 429: "Too many requests"}
        self.body = {"error": {"status": status, "error_code": 140000 + status, "title": titles.get(status, "Error"),
                               "detail": detail, "additional_information": "", "traceback": None}}  # fmt: skip


class Prolific:
    """What the platform knows, and what people do on it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.set_up: dict[str, list[tuple[str, int]]] = {}
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.paid: list[tuple[str, int]] = []
        self.pending: list[tuple[str, int]] = []  # paid, and not shown yet
        self.events: list[dict[str, str]] = []
        self.requests: list[tuple[str, str]] = []
        # Before or after a request is carried out: raise a Problem, or return "drop" to lose the answer.
        self.before: Callable[[str, str], str | None] = lambda _method, _path: None
        self.after: Callable[[str, str], str | None] = lambda _method, _path: None
        self.currency, self.balance = "USD", 1_000_000
        self.shows_bonuses_at_once = True

    # What people do.

    def take_place(self, study: str, participant: str) -> str:
        """Somebody takes a place: a submission, RESERVED."""
        with self.lock:
            found = self.studies[study]
            if found["status"] != "ACTIVE" or self.free(study) < 1:
                raise Problem(400, "No place.")
            key = secrets.token_hex(12)
            self.submissions[key] = {
                "id": key, "study_id": study, "participant_id": participant, "status": "RESERVED",
                "started_at": "2026-01-01T12:00:00Z", "completed_at": None, "study_code": "", "bonus_payments": [],
                "reward": found["reward"], "is_complete": False,
            }  # fmt: skip
            self._told(key)
            self._exhaust(study)
            return key

    def move(self, key: str, status: str, code: str | None = None) -> None:
        """Somebody starts, returns, runs out of time, or finishes with a code or without one."""
        with self.lock:
            row = self.submissions[key]
            if row["status"] in FINAL:
                raise Problem(400, "Decided.")
            row["status"] = status
            if status == "AWAITING REVIEW":
                row |= {"completed_at": "2026-01-01T12:30:00Z", "is_complete": True, "study_code": code or ""}
            self._told(key)
            self._exhaust(row["study_id"])

    def free(self, study: str) -> int:
        """How many places nobody has."""
        rows = self.submissions.values()
        taken = sum(row["study_id"] == study and row["status"] not in FREES for row in rows)
        return int(self.studies[study]["total_available_places"]) - taken

    def show_bonuses(self) -> None:
        """Minutes pass: what was paid shows."""
        with self.lock:
            for key, amount in self.pending:
                self.submissions[key]["bonus_payments"].append(amount)
            self.pending.clear()

    def _told(self, key: str) -> None:
        row = self.submissions[key]
        self.events.append({"event_id": secrets.token_hex(12), "event_type": "submission.status.change",
                            "resource_id": key, "participant_id": row["participant_id"],
                            "status": row["status"]})  # fmt: skip

    def _exhaust(self, study: str) -> None:
        found = self.studies[study]
        if found["status"] == "ACTIVE" and self.free(study) < 1:
            found["status"] = "AWAITING REVIEW"
        elif found["status"] == "AWAITING REVIEW" and self.free(study) > 0 and not found["is_stopped"]:
            found["status"] = "ACTIVE"

    # The API.

    def answer(  # noqa: C901
        self, method: str, path: str, query: dict[str, str], body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        """Carry a request out."""
        parts = [part for part in path.removeprefix("/api/v1/").split("/") if part]
        with self.lock:
            match (method, *parts):
                case ("GET", "users", "me"):
                    return 200, {"id": "researcher", "email": "researcher@example.org"}, {}
                case ("GET", "workspaces", _, "balance"):
                    return 200, {"currency_code": self.currency, "available_balance": self.balance}, {}
                case ("POST", "study-cost-calculator"):
                    total = body["reward"] * body["total_available_places"]
                    return 200, {"total_cost": total * 4 / 3}, {}
                case ("GET", "filters"):
                    return 200, {"results": FILTERS}, {}
                case ("GET", "studies"):
                    rows = [row for row in self.studies.values() if row["status"] == query.get("state", row["status"])]
                    return 200, {"results": rows}, {}
                case ("POST", "studies"):
                    return 201, self._create(body), {}
                case (verb, "studies", key, *rest):
                    return 200, self._study(verb, self._known(self.studies, key), rest, query, body), {}
                case ("POST", "submissions", "bonus-payments"):
                    return 201, self._set_up(body), {}
                case ("GET", "submissions", key):
                    return 200, dict(self._known(self.submissions, key)), {}
                case ("POST", "submissions", key, "transition"):
                    return 200, self._decide(self._known(self.submissions, key), body), {}
                case ("POST", "bulk-bonus-payments", key, "pay"):
                    return 202, self._pay(key), {}
                case (_, "hooks", *rest):
                    return self._hooks(method, rest, body)
        raise Problem(404, "Not found.")

    def _known(self, rows: dict[str, dict[str, Any]], key: str) -> dict[str, Any]:
        if key not in rows:
            raise Problem(404, "Not found.")
        return rows[key]

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        wrong = {name: ["This field is required."] for name in REQUIRED if body.get(name) in (None, "", [])}
        codes = [code["code"] for code in body.get("completion_codes") or []]
        if len(set(codes)) < len(codes):
            wrong["completion_codes"] = ["Each code must be unique within a study."]
        known = {row["filter_id"] for row in FILTERS}
        if any(row["filter_id"] not in known for row in body.get("filters", [])):
            wrong["filters"] = ["Invalid filter."]
        if wrong:
            raise Problem(400, wrong)
        key = secrets.token_hex(12)
        self.studies[key] = {**body, "id": key, "status": "UNPUBLISHED", "places_taken": 0, "is_stopped": False}
        return self.studies[key]

    def _study(self, verb: str, row: dict[str, Any], rest: list[str], query: dict[str, str], body: Any) -> Any:
        if verb == "GET" and not rest:
            return {**row, "places_taken": row["total_available_places"] - self.free(row["id"])}
        if verb == "PATCH" and not rest:
            return self._change(row, body)
        if verb == "POST" and rest == ["transition"]:
            before, after = STEPS.get(body.get("action"), (set(), ""))
            if row["status"] not in before:
                raise Problem(400, f"A study that is {row['status']} cannot do {body.get('action')}.")
            if body["action"] == "PUBLISH" and row["reward"] * row["total_available_places"] > self.balance:
                raise Problem(400, "Not enough balance to publish the study.")
            row["status"], row["is_stopped"] = after, body["action"] == "STOP"
            return row
        mine = [one for one in self.submissions.values() if one["study_id"] == row["id"]]
        if rest == ["submissions", "counts"]:
            counted = Counter(one["status"] for one in mine)
            return {**counted, "TOTAL": len(mine)}
        if rest == ["submissions"]:
            start, limit = int(query.get("offset", 0)), int(query.get("limit", 20))
            return {"results": mine[start : start + limit], "meta": {"count": len(mine)}}
        raise Problem(404, "Not found.")

    def _change(self, row: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        if row["status"] != "UNPUBLISHED" and (fixed := set(body) - {"internal_name", "total_available_places"}):
            raise Problem(400, {name: ["This field cannot be changed once published."] for name in fixed})
        if body.get("total_available_places", row["total_available_places"]) < row["total_available_places"]:
            raise Problem(400, {"total_available_places": ["Places can only be increased."]})
        row.update(body)
        row["is_stopped"] = False
        self._exhaust(row["id"])
        return row

    def _decide(self, row: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        action = body.get("action")
        after = {"APPROVE": "APPROVED", "REJECT": "REJECTED", "COMPLETE": "SCREENED OUT"}.get(str(action))
        if after is None:
            raise Problem(400, {"action": ["Invalid action."]})
        if row["status"] == after:
            return row
        if row["status"] in FINAL or row["status"] in {"RESERVED", "ACTIVE"}:
            raise Problem(400, f"A submission that is {row['status']} cannot become {after}.")
        if action == "REJECT":
            if len(body.get("message", "")) < 100:
                raise Problem(400, {"message": ["Ensure this field has at least 100 characters."]})
            if body.get("rejection_category") not in CATEGORIES:
                raise Problem(400, {"rejection_category": ["Invalid category."]})
            if row["status"] != "AWAITING REVIEW":
                raise Problem(400, "Only submissions awaiting review can be rejected.")
        if action == "COMPLETE":
            codes = self.studies[row["study_id"]]["completion_codes"]
            ours = [code["code"] for code in codes if code.get("actor") == "researcher"]
            if body.get("completion_code") not in ours:
                raise Problem(400, {"completion_code": ["Invalid code."]})
        row["status"] = after
        self._told(row["id"])
        self._exhaust(row["study_id"])
        return row

    def _set_up(self, body: dict[str, Any]) -> dict[str, Any]:
        listed = []
        for line in body["csv_bonuses"].split("\n"):
            key, amount = line.split(",")
            row = self._known(self.submissions, key)
            if row["study_id"] != body["study_id"]:
                raise Problem(400, f"{key} did not take part.")
            listed.append((key, round(float(amount) * 100)))
        key = secrets.token_hex(12)
        self.set_up[key] = listed
        total = sum(amount for _key, amount in listed)
        return {"id": key, "study": body["study_id"], "amount": total, "fees": 0, "total_amount": total, "vat": 0}

    def _pay(self, key: str) -> str:
        if key not in self.set_up:
            raise Problem(404, "Not found.")
        for one in self.set_up[key]:  # each time: this is what the platform warns of
            self.paid.append(one)
            self.pending.append(one)
        if self.shows_bonuses_at_once:
            self.show_bonuses()
        return f"Bulk bonus payment with ID {key} is being processed asynchronously."

    def _hooks(self, method: str, rest: list[str], body: Any) -> tuple[int, Any, dict[str, str]]:
        if method == "GET" and rest == ["subscriptions"]:
            return 200, {"results": list(self.subscriptions.values())}, {}
        if method == "POST" and rest == ["subscriptions"]:
            key, secret = secrets.token_hex(12), secrets.token_hex(16)
            self.subscriptions[key] = {**body, "id": key, "is_enabled": False, "secret": secret}
            return 201, {"results": [{**body, "id": key}]}, {"X-Hook-Secret": secret}
        if method == "POST" and rest[:1] == ["subscriptions"]:
            row = self._known(self.subscriptions, rest[1])
            if body.get("secret") != row["secret"]:
                raise Problem(400, {"secret": ["Wrong secret."]})
            row["is_enabled"] = True
            return 200, row, {}
        raise Problem(404, "Not found.")

    def people(self, parts: list[str], body: Any) -> Any:
        """By hand: `take/STUDY/PARTICIPANT`, `move/SUBMISSION` with `{"status": …, "code": …}`, `all`."""
        match parts:
            case ["take", study, participant]:
                return {"id": self.take_place(study, participant)}
            case ["move", key]:
                self.move(key, body["status"], body.get("code"))
                return self.submissions[key]
        return {"studies": self.studies, "submissions": self.submissions}


class Handler(BaseHTTPRequestHandler):
    """HTTP."""

    server: "Server"
    protocol_version = "HTTP/1.1"
    # Headers and body are two packets, and the second is not to wait for the receipt of the first.
    disable_nagle_algorithm = True

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""

    def do(self) -> None:
        """Answer, or lose the answer if the test wants so."""
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        parts, there = urlsplit(self.path), self.server.there
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        there.requests.append((self.command, parts.path))
        try:
            if parts.path.startswith("/people"):
                return self.say(200, there.people(parts.path.split("/")[2:], body), {})
            if self.headers.get("authorization") != f"Token {TOKEN}":
                raise Problem(401, "Authentication credentials were not provided.")  # noqa: TRY301
            if there.before(self.command, parts.path) == "drop":
                return self.lose()
            status, answer, headers = there.answer(self.command, parts.path, query, body)
            if there.after(self.command, parts.path) == "drop":
                return self.lose()
        except Problem as problem:
            return self.say(problem.status, problem.body, problem.headers)
        return self.say(status, answer, headers)

    do_GET = do_POST = do_PATCH = do  # noqa: N815

    def say(self, status: int, body: Any, headers: dict[str, str]) -> None:
        """Send an answer."""
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def lose(self) -> None:
        """Close the connection without a word."""
        self.close_connection = True
        self.connection.close()


class Server(ThreadingHTTPServer):
    """The platform at an address."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.there = Prolific()

    @property
    def url(self) -> str:
        """Where its API is."""
        return f"http://127.0.0.1:{self.server_address[1]}/api/v1/"

    def handle_error(self, *_args: Any) -> None:
        """A lost answer is meant."""


if __name__ == "__main__":
    with Server(int(sys.argv[1]) if len(sys.argv) > 1 else 8099) as running:
        print(running.url)
        running.serve_forever()
