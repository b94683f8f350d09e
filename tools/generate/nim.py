"""Nim: what the compiler leaves out for this language, and names that are unique in a module.

Members of an enum are names of their module, so they get the enum's name as a prefix, `event_type_xid_event`.
The compiler checks neither `valid` nor `contents`, so each becomes an instance, `valid_magic`, which `read`
evaluates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tools.generate.casts import Casts, Rewriting
from tools.generate.expressions import Node as Tree
from tools.generate.expressions import parse, write
from tools.generate.grammar import Enum, Grammar, Node, Type, camel_case
from tools.generate.inference import ANY, Inference, Kind
from tools.generate.sizes import contents

#: The module that the runtime lacks, added to the generated ones.
ZLIB_MODULE = "kaitai_zlib"
_ZLIB = """\
# The runtime has no zlib; this calls the system's.
import kaitai_struct_nim_runtime

const library = when defined(windows): "zlib1.dll" elif defined(macosx): "libz.dylib" else: "libz.so(|.1)"
const noSpace = -5

proc uncompress(target: pointer, size: ptr culong, source: pointer, length: culong): cint
  {.importc, dynlib: library.}

proc processZlib*(data: seq[byte]): seq[byte] =
  if data.len == 0: raise newException(KaitaiError, "zlib: no data")
  var room = max(1024, 4 * data.len)
  while true:
    result = newSeq[byte](room)
    var size = culong(room)
    let status = uncompress(addr result[0], addr size, unsafeAddr data[0], culong(data.len))
    if status == 0:
      result.setLen(int(size))
      return
    if status != noSpace: raise newException(KaitaiError, "zlib: error " & $status)
    room *= 4
"""


class NimCasts(Casts):
    """Arguments of methods are `int`, which a cast to 32 bits converts to."""

    def index(self, place: Tree, kind: Kind) -> Tree:
        return ("cast", place, "s4") if kind.is_integer and place[0] != "number" else place


class EnumMembers(Rewriting):
    """Prefixes members of enums in expressions."""

    def rewritten(self, owner: Type, tree: Tree, item: Kind = ANY, want: Kind | None = None) -> Tree:
        if tree[0] == "enum":
            *enum, member = tree[1]
            members = self._inference.grammar.enum(owner, "::".join(enum))
            return ("enum", (*enum, f"{_prefix(members)}{member}"))
        return self.inside(owner, tree)

    def _text(self, owner: Type, text: Any, item: Kind = ANY, want: Kind | None = None) -> Any:
        return super()._text(owner, text) if "::" in str(text) else text

    def _type(self, owner: Type, type_: Any) -> Any:
        if not isinstance(type_, dict):
            return super()._type(owner, type_)
        cases = {self._text(owner, case): self._use(owner, str(use)) for case, use in type_["cases"].items()}
        return {**type_, "switch-on": self._text(owner, type_["switch-on"]), "cases": cases}

    def members(self, owner: Type, name: str) -> Node:
        """The members of an enum with their new names."""
        prefix = _prefix(self._inference.grammar.enum(owner, name))
        return {
            number: {**member, "id": prefix + member["id"]} if isinstance(member, dict) else prefix + member
            for number, member in owner.enums[name].items()
        }


def _prefix(enum: Enum) -> str:
    return "_".join((*enum.owner.path[1:], enum.name)) + "_"


def with_enum_members(grammar: Grammar) -> dict[str, Node]:
    renaming = EnumMembers(Inference(grammar))
    return {top.spec: _renamed(top, renaming) for top in grammar.tops()}


def _renamed(type_: Type, renaming: EnumMembers) -> Node:
    done = dict(type_.node)
    if "seq" in done:
        done["seq"] = [renaming.field(type_, node) for node in type_.seq]
    if "instances" in done:
        done["instances"] = {name: renaming.field(type_, node) for name, node in type_.instances.items()}
    if "types" in done:
        done["types"] = {child.name: _renamed(child, renaming) for child in type_.children()}
    if "enums" in done:
        done["enums"] = {name: renaming.members(type_, name) for name in type_.enums}
    return done


def with_checks(type_: Type) -> Node:
    """A type in which instances state the conditions of its fields."""
    done = dict(type_.node)
    checks = {f"valid_{node['id']}": {"value": _condition(node)} for node in checked(type_)}
    if checks:
        done["seq"] = [_unchecked(node) for node in type_.seq]
        done["instances"] = {**type_.instances, **checks}
    if "types" in done:
        done["types"] = {child.name: with_checks(child) for child in type_.children()}
    return done


def checked(type_: Type) -> list[Node]:
    """The fields with a condition."""
    return [node for node in type_.seq if "valid" in node or "contents" in node]


def _unchecked(node: Node) -> Node:
    done = {key: value for key, value in node.items() if key not in ("valid", "contents")}
    return {**done, "size": len(contents(node))} if "contents" in node else done


def _condition(node: Node) -> str:
    name = ("name", node["id"])
    if "contents" in node:
        numbers = tuple(("number", byte) for byte in contents(node))
        return write(("binary", "==", name, ("cast", ("list", numbers), "bytes")))
    valid = node["valid"] if isinstance(node["valid"], dict) else {"eq": node["valid"]}
    conditions = list(_comparisons(name, valid))
    return " and ".join(f"({write(condition)})" for condition in conditions)


def _comparisons(name: Tree, valid: Node) -> Iterator[Tree]:
    for key, operator in (("eq", "=="), ("min", ">="), ("max", "<=")):
        if key in valid:
            yield ("binary", operator, name, parse(str(valid[key])))
    if "any-of" in valid:
        first, *others = (("binary", "==", name, parse(str(value))) for value in valid["any-of"])
        for other in others:
            first = ("binary", "or", first, other)
        yield first


def finish(grammar: Grammar, files: dict[str, str]) -> dict[str, str]:
    """The compiler's output with checks, imports, and zlib."""
    done = {}
    for top in grammar.tops():
        text = files[f"{top.id}.nim"]
        for type_ in grammar:
            if type_.id == top.id:
                text = _with_checks(text, type_)
        text = _REPEATED.sub(_marked_as_begun, text)
        imported = [grammar.specs[spec]["meta"]["id"] for spec in grammar.all_imports(top.spec)]
        done[f"{top.id}.nim"] = _with_imports(text, top.id, imported)
    return {**done, f"{ZLIB_MODULE}.nim": _ZLIB}


#: An unknown member of an enum and a number beyond 2^63 are values like any other; the runtime checks sizes.
_UNCHECKED = "\n{.push rangeChecks: off, overflowChecks: off.}\n"
_REPEATED = re.compile(
    r"^    return this\.(\w+)Inst\n(?=(?:(?!^proc ).*\n)*? +this\.\1Inst\.add\(it\)$)", re.MULTILINE
)


def _marked_as_begun(match: re.Match[str]) -> str:
    """A list may refer to its items so far, so it must not be read again while it is read."""
    return f"{match[0]}  this.{match[1]}InstFlag = true\n"


def _with_checks(text: str, type_: Type) -> str:
    if not checked(type_):
        return text
    kind = type_.class_path.replace(".", "_")
    start = re.search(rf"^proc read\*\(_: typedesc\[{kind}\].* =$", text, re.MULTILINE)
    assert start, kind
    begin, end = start.end(), text.find("\nproc ", start.end())
    body = text[begin:end]
    for node in checked(type_):
        field = camel_case(node["id"])
        field = field[:1].lower() + field[1:]
        message = f"{'.'.join(type_.path)}.{node['id']}: invalid value"
        check = (
            f'\\1if not this.valid{camel_case(node["id"])}: raise newException(KaitaiError, "{message}")\n'
        )
        body, count = re.subn(
            rf"^( +)this\.{field} = {field}Expr\n", rf"\g<0>{check}", body, flags=re.MULTILINE
        )
        assert count == 1, (type_.path, node["id"])
    return text[:begin] + body + text[end:]


def _with_imports(text: str, own: str, imported: list[str]) -> str:
    """Nim does not see what a file imports through another file."""
    there = {own, *re.findall(r"^import (\w+)$", text, re.MULTILINE)}
    zlib = [ZLIB_MODULE] if "processZlib" in text else []
    added = "".join(f"import {name}\n" for name in [*imported, *zlib] if name not in there)
    return text.replace("import options\n", f"import options\n{added}{_UNCHECKED}", 1)
