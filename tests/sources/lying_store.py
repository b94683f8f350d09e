"""An object store that lies: it speaks S3 for one object, and answers as a test tells it to."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_NOTHING = b"<ListBucketResult><Name>logs</Name><KeyCount>0</KeyCount></ListBucketResult>"


@dataclass
class Answer:
    """The answer to a request for a range.

    Attributes
    ----------
    body : bytes
        Its bytes.
    status : int
        Its status.
    stated : int or None
        The length in its header; None for that of the body.
    """

    body: bytes
    status: int = 206
    stated: int | None = None


@dataclass
class LyingStore:
    """What the store says of `s3://logs/binlog.000001`.

    Attributes
    ----------
    data : bytes
        The object.
    size : int
        The size it states.
    answer : callable
        Answers a request for the bytes from one offset to another, given the data.
    modified : callable
        The time at which the object was changed, in hours, after so many requests for ranges.
    has_everything : bool
        Whether any other object exists, too.
    ranges : list of (int, int)
        The ranges that were requested.
    states : int
        How often the state of an object was requested.
    """

    data: bytes
    size: int
    answer: Callable[[bytes, int, int], Answer] = lambda data, start, end: Answer(data[start:end])
    modified: Callable[[int], int] = lambda count: 10
    has_everything: bool = False
    ranges: list[tuple[int, int]] = field(default_factory=list)
    states: int = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: LyingStore

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.store.states += 1
        is_log = self.path.split("?")[0] == "/logs/binlog.000001"
        self._head(200 if is_log or self.store.has_everything else 404, self.store.size if is_log else 2)

    def do_GET(self) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if wanted is None:
            self._head(200, len(_NOTHING))
            self.wfile.write(_NOTHING)
            return
        start, end = int(wanted[1]), int(wanted[2]) + 1
        self.store.ranges.append((start, end))
        answer = self.store.answer(self.store.data, start, end)
        self._head(answer.status, len(answer.body) if answer.stated is None else answer.stated)
        self.wfile.write(answer.body)
        self.close_connection = answer.stated is not None

    def _head(self, status: int, size: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(size))
        hour = self.store.modified(len(self.store.ranges))
        self.send_header("Last-Modified", f"Wed, 25 Nov 2026 {hour}:00:00 GMT")
        self.end_headers()


@contextmanager
def lying(store: LyingStore) -> Iterator[str]:
    """The URL of the object."""
    handler = type("Handler", (_Handler,), {"store": store})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up on lies
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = f"scheme=http&endpoint_override=127.0.0.1:{server.server_port}"
        yield f"s3://logs/binlog.000001?{options}"
        server.shutdown()
