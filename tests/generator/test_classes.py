"""Converting the compiler's Python to a package: imports, invalid UTF-8, absent fields."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.generate.classes import deferred_imports, lossless_text, relative_imports


@pytest.fixture
def package(generated_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Loads modules of the small grammar's package, and forgets them afterwards."""
    monkeypatch.syspath_prepend(str(generated_root / "generated"))
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("binlog_grammar")}
    yield importlib.import_module
    for name in [name for name in sys.modules if name.startswith("binlog_grammar")]:
        del sys.modules[name]
    sys.modules.update(before)


BYTES = b"\x01" + b"\x05\0\0\0" + b"ab" + b"\xff\xc3" + b"\x07\0"


def test_the_package_parses(package: Any) -> None:
    parsed = package("binlog_grammar.mysql_binlog").MysqlBinlog.from_bytes(BYTES)
    assert (parsed.flags, parsed.size, parsed.first, parsed.value) == (1, 5, "ab", 7)


def test_bytes_that_are_no_utf8_come_back_when_encoded(package: Any) -> None:
    parsed = package("binlog_grammar.mysql_binlog").MysqlBinlog.from_bytes(BYTES)
    assert parsed.names[1].text.encode("utf-8", "surrogateescape") == b"\xff\xc3"


def test_absent_fields_are_none(package: Any) -> None:
    parsed = package("binlog_grammar.mysql_binlog").MysqlBinlog.from_bytes(b"\x07abcd")
    assert parsed.size is None  # its `if` does not hold
    assert parsed.value is None  # no case of its `switch-on` fits
    assert parsed.flags == 7  # a number that the enum does not have


def test_the_classes_note_positions(package: Any) -> None:
    parsed = package("binlog_grammar.mysql_binlog").MysqlBinlog.from_bytes(BYTES)
    assert parsed._starts == {"flags": 0, "size": 1, "names": [5, 7, 9], "value": 9}
    assert parsed._end == 11


def test_an_object_that_ends_early_keeps_what_was_read(package: Any) -> None:
    stream = package("binlog_grammar").KaitaiStream(io.BytesIO(BYTES[:8]))
    node = package("binlog_grammar.mysql_binlog").MysqlBinlog(stream)
    with pytest.raises(EOFError):
        node._read()
    assert (node.size, node._starts, node._end) == (5, {"flags": 0, "size": 1, "names": [5, 7]}, None)


def test_imports_become_relative_and_sorted() -> None:
    lines = [
        "import kaitaistruct",
        "from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO",
        *("import rows", "import zlib", "from enum import IntEnum", "import body", ""),
        "import kept",
    ]
    assert relative_imports(lines, {"rows", "body", "kept"}) == [
        *lines[:2],
        *("from . import body", "from . import rows", "from enum import IntEnum", "import zlib", ""),
        "import kept",
    ]


def test_modules_of_which_only_objects_are_made_are_deferred() -> None:
    lines = ["import kaitaistruct", "from . import body", "from . import kinds", "", "", "class Rows:"]
    made = "    self.body, self.kind = body.Body(self._io), kinds.Kinds.Kind.first"
    assert deferred_imports([*lines, made, "    self.whole = body.Body.Part(body.count)"]) == [
        *("import sys", "import kaitaistruct", "from . import kinds", ""),
        *("_modules = sys.modules[__package__]", "", "class Rows:"),
        "    self.body, self.kind = _modules.body.Body(self._io), kinds.Kinds.Kind.first",
        "    self.whole = _modules.body.Body.Part(body.count)",
    ]


def test_a_log_loads_only_the_modules_that_its_events_need() -> None:
    code = "import sys; import binlog_grammar.event_body; print('binlog_grammar.rows_event' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    assert done.stdout == b"False\n"


def test_an_encoding_that_would_lose_bytes_is_refused() -> None:
    assert lossless_text('(x).decode(u"UTF-8")', "a") == '(x).decode("UTF-8", "surrogateescape")'
    with pytest.raises(ValueError, match="UTF-16LE"):
        lossless_text('(x).decode(u"UTF-16LE")', "a")
