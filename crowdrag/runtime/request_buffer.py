"""The bytes of an incoming request: whether it is complete, and whether a thread may start to answer it.

It only finds the end of a request. The web server's own parser, which reads the same bytes afterwards, validates it:
whatever looks wrong here counts as complete, so that the parser can reject it.
"""

from enum import Enum

#: A larger body is never held in memory: views that accept files read it as a stream.
LARGEST_BUFFERED = 2_621_440
LARGEST_HEAD = 64 * 1024
_LONGEST_CHUNK_LINE = 1024


class RequestProgress(Enum):
    """How much of a request has arrived."""

    HEAD = "head"  # the head is incomplete
    BODY = "body"  # the head is complete, the body is not
    WHOLE = "whole"  # the request is complete
    LARGE = "large"  # the head is complete, and the body is too large to be held
    TOO_LONG = "too long"  # the head is too long


class RequestBuffer:
    """The bytes of one request, and perhaps the first ones of the next.

    Attributes
    ----------
    data : bytearray
        all received bytes.
    progress : RequestProgress
        how much has arrived; updated by `feed`.
    length : int
        the body's length in bytes from the head; 0 for a chunked one.
    expects_continue : bool
        whether the client waits for permission to send the body.
    """

    def __init__(self) -> None:
        self.data = bytearray()
        self.progress = RequestProgress.HEAD
        self.length = 0
        self.expects_continue = False
        self._searched = 0
        self._end = 0  # of the body, or of the known part of a chunked one
        self._is_chunked = False
        self._sum_of_chunks = 0

    def feed(self, data: bytes) -> RequestProgress:
        """Add received bytes, and return how much of the request has arrived."""
        self.data += data
        if self.progress is RequestProgress.HEAD:
            self._look_for_head()
        if self.progress is RequestProgress.BODY:
            self._look_for_end()
        return self.progress

    def drop_expectation(self) -> None:
        """Remove the header `Expect`, which has been answered."""
        head, separator, rest = bytes(self.data).partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"expect:")]
        shorter = b"\r\n".join(lines)
        self._end -= len(head) - len(shorter)
        self.data = bytearray(shorter + separator + rest)
        self.expects_continue = False

    def _look_for_head(self) -> None:
        end = self.data.find(b"\r\n\r\n", max(0, self._searched - 3))
        self._searched = len(self.data)
        if end < 0:
            if len(self.data) > LARGEST_HEAD:
                self.progress = RequestProgress.TOO_LONG
            return
        self._end = end + 4
        self.progress = RequestProgress.BODY
        for line in bytes(self.data[:end]).split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            self._note(name.strip().lower(), value.strip().lower())
        if self.length > LARGEST_BUFFERED:
            self.progress = RequestProgress.LARGE
        elif not self._is_chunked:
            self._end += self.length

    def _note(self, name: bytes, value: bytes) -> None:
        if name == b"content-length" and value.isdigit():
            self.length = int(value[:20])
        elif name == b"transfer-encoding":
            self._is_chunked = True
        elif name == b"expect":
            self.expects_continue = True

    def _look_for_end(self) -> None:
        if self._is_chunked:
            self._pass_chunks()
        elif len(self.data) >= self._end:
            self.progress = RequestProgress.WHOLE

    def _pass_chunks(self) -> None:
        """Advance from chunk to chunk as far as they have arrived."""
        while self._end < len(self.data):
            at = self.data.find(b"\r\n", self._end, self._end + _LONGEST_CHUNK_LINE)
            if at < 0:
                if len(self.data) - self._end >= _LONGEST_CHUNK_LINE:
                    self.progress = RequestProgress.WHOLE
                return
            try:
                size = int(bytes(self.data[self._end : at]).split(b";")[0][:16], 16)
            except ValueError:
                size = -1
            if size < 0:
                self.progress = RequestProgress.WHOLE
                return
            if size == 0:
                self._look_for_trailers(at)
                return
            self._sum_of_chunks += size
            if self._sum_of_chunks > LARGEST_BUFFERED:
                self.progress = RequestProgress.LARGE
                return
            self._end = at + 2 + size + 2

    def _look_for_trailers(self, at: int) -> None:
        if self.data.find(b"\r\n\r\n", at) >= 0:
            self.progress = RequestProgress.WHOLE
        elif len(self.data) - at > LARGEST_HEAD:
            self.progress = RequestProgress.TOO_LONG
