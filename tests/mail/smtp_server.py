"""A mail server that keeps what comes, and answers to the end of an email as it is told."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any


@dataclass
class SmtpServer:
    """The emails that came, and the codes with which the next ones are answered; when there are none, 250."""

    came: list[EmailMessage] = field(default_factory=list)
    says: list[int] = field(default_factory=list)
    port: int = 0


class Handler(socketserver.StreamRequestHandler):
    """One conversation (RFC 5321)."""

    server: Any

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        self.say("220 here")
        while line := self.rfile.readline():
            word = line.split()[0].upper() if line.split() else b""
            if word == b"DATA":
                self.say("354 go on")
                self.take()
            elif word == b"QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 fine")

    def take(self) -> None:
        there: SmtpServer = self.server.there
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b"."))
        code = there.says.pop(0) if there.says else 250
        if code == 250:
            there.came.append(message_from_bytes(b"".join(lines), policy=policy.default))  # type: ignore[arg-type]
        self.say(f"{code} said of ana@example.org")


@contextmanager
def serving() -> Iterator[SmtpServer]:
    """Run it for a while."""
    there = SmtpServer()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.there, there.port = there, server.server_address[1]  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield there
        server.shutdown()
        thread.join()
