"""Options that several functions share: in `help`, for type checkers, and in the error for a misspelt one."""

import inspect
import typing
from typing import Annotated, Any, TypedDict, Unpack

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import FilterOptions
from binlog_kaitai.core.options import Option, part_of, takes

COMMON = {"keys", "ddl", "verify_checksums"}
FILTERS = set(FilterOptions.__annotations__)

#: What each public function takes besides what is its own.
SHARED = {
    "follow": COMMON | {"fails_on_loss", "idle_timeout", "interval", "stop"},
    "follow_rows": COMMON | FILTERS | {"fails_on_loss", "idle_timeout", "interval", "stop"},
    "open": COMMON,
    "read_changes": COMMON | FILTERS - {"table"} | {"threads", "progress"},
    "read_ddl": COMMON | FILTERS,
    "read_events": COMMON - {"ddl"} | FILTERS | {"threads", "progress"},
    "read_rows": COMMON | FILTERS,
    "read_transactions": COMMON | FILTERS | {"threads", "progress"},
    "sql_script": FILTERS | {"keys", "ddl", "threads", "progress"},
    "stats": COMMON - {"ddl"} | FILTERS | {"threads", "progress"},
    "verify": {"keys", "ddl", "threads", "progress"},
}


class Sizes(TypedDict, total=False):
    width: Annotated[int, Option("In bytes.", 4)]


class Shapes(Sizes, total=False):
    color: Annotated[str | None, Option("By name.")]


@takes(Shapes)
def draw(what: str, *, twice: bool = False, **options: Unpack[Shapes]) -> dict[str, Any]:
    """Draw.

    Parameters
    ----------
    what
        A name.
    **options
        See `Shapes`.

    Raises
    ------
    ValueError
        Never.
    """
    return dict(options)


def test_the_docstring_describes_options_in_place_of_their_entry() -> None:
    assert (inspect.getdoc(draw) or "").splitlines()[4:11] == [
        *("what", "    A name.", "width", "    In bytes.", "color", "    By name.", "")
    ]


def test_the_signature_has_options_with_types_and_defaults() -> None:
    width = inspect.signature(draw).parameters["width"]
    assert (width.kind, width.annotation, width.default) == (inspect.Parameter.KEYWORD_ONLY, int, 4)
    assert list(inspect.signature(draw).parameters) == ["what", "twice", "width", "color"]


def test_a_function_gets_all_options() -> None:
    assert draw("a") == {"width": 4, "color": None}
    assert draw("a", color="red", twice=True) == {"width": 4, "color": "red"}
    assert part_of(draw("a"), Sizes) == {"width": 4}


@pytest.mark.parametrize(
    ("keyword", "hint"),
    [("colour", "; did you mean 'color'?"), ("twise", "; did you mean 'twice'?"), ("z", "")],
)
def test_an_unknown_keyword_is_refused(keyword: str, hint: str) -> None:
    with pytest.raises(TypeError) as refused:
        draw("a", **{keyword: 1})  # type: ignore[arg-type]
    assert str(refused.value) == f"draw() got an unexpected keyword argument {keyword!r}{hint}"


@pytest.mark.parametrize("name", SHARED)
def test_public_functions_show_and_check_their_options(name: str) -> None:
    function = getattr(bk, name)
    signature, lines = inspect.signature(function), (inspect.getdoc(function) or "").splitlines()
    assert set(signature.parameters) >= SHARED[name]
    assert "options" not in signature.parameters
    for parameter in SHARED[name]:
        assert lines[lines.index(parameter) + 1].startswith("    "), parameter
    with pytest.raises(TypeError, match="'keyz'; did you mean 'keys'"):
        function("nowhere", keyz=None)


def test_filters_name_a_similar_filter() -> None:
    with pytest.raises(TypeError, match=r"Filters\.of\(\).*'tables'; did you mean 'table'"):
        bk.Filters.of(tables="a.b")  # type: ignore[call-arg]
    assert (
        set(inspect.signature(bk.Filters.of).parameters)
        == FILTERS
        == set(typing.get_type_hints(FilterOptions))
    )
