"""The table of main fields contains only fields of the grammar."""

from __future__ import annotations

import pytest

from binlog_kaitai.core.event_types import INFO_FIELDS
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.info import _FUNCTIONS
from tools.generate.grammar import Grammar, type_name


@pytest.mark.parametrize(
    "kind", [kind for kind in EventType if INFO_FIELDS[kind]], ids=lambda kind: kind.name
)
def test_every_path_leads_to_a_field(grammar: Grammar, kind: EventType) -> None:
    body = grammar.top("event_body")
    content = next(field for field in body.seq if field["id"] == "content")
    (use,) = (use for case, use in content["type"]["cases"].items() if case.endswith(f"::{kind.name}"))
    for field in INFO_FIELDS[kind]:
        if field.is_function:
            assert field.path in _FUNCTIONS
            continue
        scope = grammar.resolve(body, type_name(use))
        *outer, last = field.path.split(".")
        for name in outer:
            fields = {one["id"]: one for one in (*scope.seq, *scope.params)}
            scope = grammar.resolve(scope, type_name(fields[name]["type"]))
        assert last in {one["id"] for one in scope.seq} | set(scope.instances), field
