"""Questions to a server, asked again while connections are lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from binlog_kaitai.errors import ConnectionLostError
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.causes import pause_after
from binlog_kaitai.live.eras import choose
from binlog_kaitai.live.fetching import TRIES
from binlog_kaitai.live.session import Server, Session
from binlog_kaitai.live.source import anyone

_Answer = TypeVar("_Answer")


def ask(
    addresses: Sequence[Address],
    known: Callable[[], Server | None],
    question: Callable[[Session], _Answer],
    stop: threading.Event,
) -> _Answer:
    """What a server answers; what another one answers if that cannot be reached.

    Parameters
    ----------
    known
        The server to ask; None for any of them.
    question
        Called with a connection, and with another one if that is lost.
    stop
        Ends the pauses between attempts.

    Raises
    ------
    ServerError
        The server refuses; `ConnectionLostError` after several attempts.
    """
    for failures in range(1, TRIES):
        with suppress(ConnectionLostError):
            return _ask_once(addresses, known(), question)
        stop.wait(pause_after(failures))
    return _ask_once(addresses, known(), question)


def _ask_once(
    addresses: Sequence[Address], known: Server | None, question: Callable[[Session], _Answer]
) -> _Answer:
    address = choose(addresses, known, _connect, lambda other: None, may_move=True)
    with _connect(address) as session:
        return question(session)


def _connect(address: Address) -> Session:
    return Session(address, anyone())
