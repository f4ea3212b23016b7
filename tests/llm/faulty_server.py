"""A model server on loopback that behaves as it is told: the request's last message names the behaviours in turn.

`busy,fail,ok` answers 429, then 500, then properly. What it would bill is counted in `bill`.
"""

import json
import re
import threading
import time
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROMPT, COMPLETION = 10, 5


class MisbehavingServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.turns = Counter()
        self.seen = []  # (headers, body) of every request
        self.billed = []  # (prompt tokens, completion tokens) of everything that a provider would bill
        self.at_once = self.most_at_once = 0
        self.always = ""  # behaviours for all questions, whatever they say

    def handle_error(self, request, client_address):
        """Clients of these tests break off on purpose."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def asked(self, text=""):
        return [body for _headers, body in self.seen if text in body["messages"][0]["content"]]

    def bill(self, input_price, output_price):
        return sum(prompt * input_price + completion * output_price for prompt, completion in self.billed) / 1_000_000


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.say(404, {"error": {"message": "nothing here"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question = body["messages"][0]["content"]
        with self.server.lock:
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
            self.server.seen.append((dict(self.headers), body))
            turn = self.server.turns[question]
            self.server.turns[question] += 1
        behaviours = (self.server.always or question.split()[0]).split(",")
        self.body = body
        name, _, argument = behaviours[min(turn, len(behaviours) - 1)].partition(":")
        try:
            getattr(self, name)(argument)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    # How it can behave.

    def ok(self, text):
        self.answer(text or "yes")

    def document(self, value):
        self.answer(json.dumps({"choice": value or "a"}))

    def prose(self, _):
        self.answer('Sure! Here it is: {"choice": "a"}')

    def empty(self, _):
        self.answer("", completion=0)

    def nothing(self, _):
        self.answer(None, completion=0)

    def cut_short(self, _):
        self.answer("and then", finish_reason="length")

    def words(self, number):
        self.answer(" ".join(f"number-{place}" for place in range(int(number or 40) - 1)) + " end [0].")

    def document_of(self, _):
        said = {"text": "A claim that is long enough to be one.", "citations": [0]}
        self.answer(json.dumps({"statements": [said, said]}))

    def sorry(self, _):
        self.answer("I'm sorry, but I can't help with that.")

    def refuse(self, _):
        self.answer(None, refusal="I would rather not.")

    def filtered(self, _):
        self.answer("", finish_reason="content_filter")

    def nul(self, _):
        self.answer("a\0b\ud83d")

    def scored(self, _):
        """As vLLM: the prompt's tokens, here its words, the less likely the longer they are; the first has none."""
        if self.body.get("prompt_logprobs") is None:
            return self.answer("yes")
        text = " ".join(message["content"] for message in self.body["messages"])
        words = re.findall(r"\s*\S+", text)
        of_each = [
            {str(i): {"logprob": -float(len(w.strip())), "rank": 1, "decoded_token": w}} for i, w in enumerate(words)
        ]
        return self.answer("y", prompt_logprobs=[None, *of_each[1:]])

    def busy(self, seconds):
        self.say(429, {"error": {"message": "slow down"}}, {"Retry-After": seconds or "0"})

    def busy_until(self, seconds):
        self.busy(formatdate(time.time() + float(seconds), usegmt=True))

    def quota(self, _):
        self.say(429, {"error": {"message": "pay first", "code": "insufficient_quota"}})

    def fail(self, _):
        self.say(500, {"error": {"message": "it broke"}})

    def proxy(self, _):
        self.charge()  # behind the proxy the model worked on
        self.send_raw(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 12\r\n\r\n<h1>502</h1>")

    def echo_key(self, _):
        self.say(401, {"error": {"message": f"wrong key: {self.headers.get('authorization')}"}})

    def bad_request(self, _):
        self.say(400, {"error": {"message": "the context is too long"}})

    def redirect(self, to):
        self.say(302, {}, {"Location": to or "http://169.254.169.254/latest/meta-data"})

    def cut(self, _):
        self.charge()
        self.send_raw(
            b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"choices": [{"mess'
        )

    def drop(self, _):
        self.charge()
        self.close_connection = True

    def slow(self, seconds):
        time.sleep(float(seconds))
        self.answer("late")

    def drip(self, seconds):
        self.charge()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        until = time.monotonic() + float(seconds)
        while time.monotonic() < until:
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.05)
        self.close_connection = True

    def garbage(self, _):
        self.charge()
        self.send_raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\xff\xfe<html>!")

    def no_http(self, _):
        self.send_raw(b"SSH-2.0-OpenSSH_9.6\r\n")

    def no_choices(self, _):
        self.say(200, {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 0}})

    def not_a_dict(self, _):
        self.say(200, ["what"])

    def error_200(self, _):
        self.charge()
        self.say(200, {"error": {"message": "upstream died"}})

    def usage(self, value):
        self.answer("yes", usage=json.loads(value.replace("~", ",")) if value else None)

    def endless(self, _):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        for _chunk in range(64):
            self.wfile.write(b" " * 1_000_000)
        self.close_connection = True

    def bomb(self, _):
        self.send_raw(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00")

    # How it says so.

    def charge(self, completion=COMPLETION):
        with self.server.lock:
            self.server.billed.append((PROMPT, completion))

    def answer(self, text, *, completion=COMPLETION, finish_reason="stop", refusal=None, usage=..., **more):
        self.charge(completion)
        message = {"role": "assistant", "content": text, "refusal": refusal}
        counted = {"prompt_tokens": PROMPT, "completion_tokens": completion, "total_tokens": PROMPT + completion}
        self.say(200, more | {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
            "usage": counted if usage is ... else usage,
        })  # fmt: skip

    def say(self, status, body, headers=None):
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_raw(self, content):
        self.wfile.write(content)
        self.wfile.flush()
        self.close_connection = True
