"""Names of the package: a class name is used once, what has a name is used, and comments name what exists."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import binlog_kaitai
from binlog_kaitai.kernels.compile import called_by, name_of
from tools.kernels.annotations import find_kernel, signatures

_ROOT = Path(__file__).parents[2]

#: Names of the servers' source code, their settings and other programs, which comments refer to.
_OF_SERVERS = {
    *("BINLOG_MAGIC", "Format_description_log_event", "Log_event", "Table_map_log_event", "log_event"),
    *("Transaction_boundary_parser", "binlog_rows_query_log_events", "binlog_storage_engine", "gtid_flags3"),
    *("check_prepared_statement", "collation_database", "control_events", "data_written", "from_cstring"),
    *("file_key_management_filekey", "file_key_management_use_pbkdf2", "init_metadata_fields", "lex", "libs"),
    *("lower_case_table_names", "ma", "max_log_event_size", "my_getopt", "my_system_gmt_sec", "sql_yacc"),
    *("mysql_prepare_alter_table", "mysqld_ername", "obfuscate_str", "pack_length", "pretty_print_str"),
    *("rec_need_swap", "use_trans_cache", "wrapper_to_string", "wsrep_dump_rbr_buf"),
    "wsrep_dump_rbr_buf_with_header",
}

#: What only tests, scripts and other programs use.
_FOR_OTHERS = {"binlog_kaitai.values.charsets.charset_names", "binlog_kaitai.live.packets.list"}


@cache
def _trees(folder: str) -> dict[Path, ast.Module]:
    files = sorted((_ROOT / folder).rglob("*.py"))
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def _module(file: Path) -> str:
    return ".".join(file.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_a_class_name_is_used_once() -> None:
    places = defaultdict(list)
    for file, tree in _trees("binlog_kaitai").items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(_module(file))
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_a_variable_says_what_it_holds() -> None:
    vague = []
    for file, tree in _trees("binlog_kaitai").items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.arg, ast.ExceptHandler, ast.MatchAs)):
                names = {getattr(node, field, None) for field in ("id", "arg", "name")}
                vague += [(_module(file), name) for name in names & {"one", "at", "found"}]
    assert vague == []


def _names(statement: ast.stmt) -> list[str]:
    """What a statement of a module defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _loads(tree: ast.AST) -> Counter[str]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Counter(node.id for node in nodes if isinstance(node.ctx, ast.Load))


def _unused() -> Iterator[str]:
    """Functions, classes and constants of modules that nothing in the package uses."""
    nodes = [node for tree in _trees("binlog_kaitai").values() for node in ast.walk(tree)]
    imported = {
        (node.module, name.name) for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names
    }
    elsewhere = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    elsewhere |= {word for text in texts if re.fullmatch(r"[\w.:]+", text) for word in re.split("[.:]", text)}
    for file, tree in _trees("binlog_kaitai").items():
        uses = _loads(tree)
        for statement in tree.body:
            own = _loads(statement)
            for name in _names(statement):
                is_public = name.startswith("__") or name in elsewhere or (_module(file), name) in imported
                if uses[name] == own[name] and not is_public:
                    yield f"{_module(file)}.{name}"


def test_what_has_a_name_is_used() -> None:
    assert set(_unused()) - _FOR_OTHERS == set()


def _known() -> set[str]:
    """All identifiers, short texts, and names of modules."""
    known = set()
    for folder in ("binlog_kaitai", "binlog_grammar", "tests", "tools"):
        for file, tree in _trees(folder).items():
            known |= {*file.parts, file.stem}
            for node in ast.walk(tree):
                names = (getattr(node, field, None) for field in ("id", "attr", "name", "arg", "module"))
                known |= {part for name in names if isinstance(name, str) for part in name.split(".")}
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
                    known |= set(re.findall(r"\w+", node.value))
    return known


def _in_backticks(folder: str) -> Iterator[tuple[str, str]]:
    """What comments and docstrings have in backticks, with the place."""
    for file in _trees(folder):
        for token in tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.COMMENT or token.string.startswith(('"""', 'r"""')):
                for name in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", token.string):
                    yield f"{_module(file)}:{token.start[0]}: {name}", name


def test_comments_and_docstrings_name_what_exists() -> None:
    known = _known() | _OF_SERVERS
    quoted = _in_backticks("binlog_kaitai")
    assert [place for place, name in quoted if not known.issuperset(re.findall(r"[A-Za-z_]\w+", name))] == []


def test_a_name_with_its_module_is_there() -> None:
    """`module.name`, or `folder.module`: names that moved are easily missed."""
    names: dict[str, set[str]] = defaultdict(set)
    for file, tree in _trees("binlog_kaitai").items():
        folder, _, module = _module(file).rpartition(".")
        names[module].update(name for statement in tree.body for name in _names(statement))
        names[folder.rpartition(".")[2]].add(module)
    names["binlog_kaitai"] |= set(binlog_kaitai.__all__)
    wrong = []
    for place, name in _in_backticks("binlog_kaitai"):
        match = re.fullmatch(r"(?!pyarrow|.*json)(?:\w+\.)*(\w+)\.(\w+)", name)
        if match and match[1] in names and match[2] not in names[match[1]]:
            wrong.append(place)
    assert wrong == []


def test_a_kernel_has_at_most_eight_arguments() -> None:
    """Nor has a function that is compiled with one."""
    functions = {find_kernel(name) for name in signatures()}
    pending = [*functions]
    while pending:
        pending += (called := {*called_by(pending.pop()).values()} - functions)
        functions |= called
    assert len(functions) > 100
    assert [name_of(function) for function in functions if function.__code__.co_argcount > 8] == []
