"""Lakes with masked columns have no raw value in any file; lakes with renamed tables have the same rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import DamagedError, UsageError
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.write import Written, write_damage, write_lake
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.rows.row_masks import KEY_VARIABLE, Masks
from binlog_kaitai.sources.source import with_state
from binlog_kaitai.views.splits import definitions_in, plan
from tests.corpus_files import CORPUS
from tests.lake.lakes import fill

#: A server that logs the text of each statement beside its rows.
TEXTS = [str(path) for path in sorted((CORPUS / "mysql-9.7" / "mixed").glob("binlog.0*"))]
ROTATED = [str(path) for path in sorted((CORPUS / "mysql-9.7" / "rotate").glob("binlog.0*"))]


def write(paths: list[str], folder: Path, rules: Rules, *, around: bool = False) -> list[Written]:
    """All of some logs, as the tasks of a pipeline write them."""
    follower, found = Follower(paths, follows_definitions=True, split_size=20_000), []
    start = follower.earliest()
    files = TableFiles(Storage(str(folder)))
    for step in follower.steps(start, follower.advance(start)):
        source = with_state(step.source)
        definitions_at = definitions_in(source, None)
        found.append(
            write_lake(source, files, definitions_at=definitions_at, rules=rules, skips_damage=around)
        )
    files.close()
    return found


def rows(folder: Path) -> Counter[str]:
    return Counter(map(repr, ds.dataset(folder).to_table().to_pylist()))


def texts_of(folder: Path) -> str:
    """Everything in the Parquet files of a folder: names, values, and statistics."""
    found = [str(path) for path in folder.rglob("*")]
    for path in folder.rglob("*.parquet"):
        metadata = pq.read_metadata(path)
        found.append(str(metadata.to_dict()))
        found.append(str(ds.dataset(path).to_table().to_pylist()))
    return "\n".join(found)


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("method", ["hash", "null", ""])
def test_no_file_has_a_masked_value(
    method: str, around: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither rows nor statements logged as text, nor statistics."""
    monkeypatch.setenv(KEY_VARIABLE, "sixteen bytes at least")
    raw = {str(row["v"]) for row in bk.read_changes(ROTATED, table="t.a").read_all().to_pylist()}
    write(ROTATED, tmp_path / "raw", NO_RULES)
    secrets = {one for one in raw if len(one) > 5}
    assert secrets
    assert all(secret in texts_of(tmp_path / "raw") for secret in secrets)
    masks = Masks.of(mask=[f"t.a.v={method}"]) if method else Masks.of(exclude=["t.a.v"])
    write(ROTATED, tmp_path / "masked", Rules(masks), around=around)
    texts = texts_of(tmp_path / "masked")
    assert not [secret for secret in secrets if secret in texts]
    for view in ("events", "transactions"):
        kept = "position"
        found, whole = (
            sorted(
                row[kept]
                for path in sorted((tmp_path / name).glob(f"{view}/*/*.parquet"))
                for row in ds.dataset(path).to_table(columns=[kept]).to_pylist()
            )
            for name in ("masked", "raw")
        )
        assert found == whole


def test_statements_stay_out_of_a_masked_lake(tmp_path: Path) -> None:
    masks = Masks.of(mask=["*.*.nothing=null"])
    write(TEXTS, tmp_path, Rules(masks))
    infos: dict[str, set[str | None]] = {}
    for path in tmp_path.glob("events/*/*.parquet"):
        for row in ds.dataset(path).to_table(columns=["type", "info"]).to_pylist():
            infos.setdefault(row["type"], set()).add(row["info"])
    for kind in ("QUERY_EVENT", "USER_VAR_EVENT", "INTVAR_EVENT", "XA_PREPARE_LOG_EVENT"):
        assert infos.get(kind, {"{}"}) == {"{}"}, kind
    assert "QUERY_EVENT" in infos
    assert '"table_name"' in str(infos["TABLE_MAP_EVENT"])
    for view in ("transactions", "statements"):
        statements = ds.dataset(tmp_path / view).to_table()["statement"]
        assert statements.null_count == len(statements) > 0


def test_damage_is_described_without_quoting_it(tmp_path: Path) -> None:
    split = plan(ROTATED[0])[0]
    gap = Gap(4, 100, DamagedError("the value 'secret' is invalid"))
    files = TableFiles(Storage(str(tmp_path)))
    write_damage([gap], split, files, Rules(Masks.of(mask=["a.b.c=null"])))
    files.close()
    (path,) = tmp_path.rglob("*.parquet")
    assert ds.dataset(path).to_table()["reason"].to_pylist() == ["DamagedError"]


def test_a_key_that_is_masked_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sixteen bytes at least")
    for mask, reasons in (("t.a.id=null", 1), ("t.a.id=hash", 0)):
        written = write(ROTATED, tmp_path / mask, Rules(Masks.of(mask=[mask])))
        incomplete = {effect.table_name: effect.reason for part in written for effect in part.effects}
        assert len(incomplete) == reasons
        assert all("its key column id is masked" in one for one in incomplete.values())


def test_tables_get_other_names(tmp_path: Path) -> None:
    rules = Rules.of(Masks(), ["t=shop", "t.a=sales.orders"])
    write(ROTATED, tmp_path / "new", rules)
    write(ROTATED, tmp_path / "old", NO_RULES)
    names = {path.name for path in tmp_path.glob("new/changes/*")}
    assert names == {"sales.orders"} | {
        path.name.replace("t.", "shop.") for path in tmp_path.glob("old/changes/*") if path.name != "t.a"
    }
    assert rows(tmp_path / "new/changes/sales.orders") == rows(tmp_path / "old/changes/t.a")


def test_two_tables_never_share_a_name() -> None:
    rules = Rules.of(Masks(), ["shop=store", "a.orders=store.orders"])
    assert rules.name_of(("a", "orders")) == ("store", "orders")
    assert rules.name_of(("shop", "items")) == ("store", "items")
    for key in (("shop", "orders"), ("store", "items"), ("store", "orders")):
        with pytest.raises(
            UsageError, match=f"in the lake, store.{key[1]} is .*; rename {key[0]}.{key[1]}, too"
        ):
            rules.name_of(key)
    swapped = Rules.of(Masks(), ["a=b", "b=a"])
    assert [swapped.name_of((one, "t")) for one in "ab"] == [("b", "t"), ("a", "t")]


@pytest.mark.parametrize(
    "renames", [["a"], ["a.b=c"], ["a=b.c"], ["=a"], ["a.=b.c"], ["a=b", "c=b"], ["a=b", "a=c"]]
)
def test_invalid_renames(renames: list[str]) -> None:
    with pytest.raises(UsageError, match=r"not a valid rename|occurs twice"):
        Rules.of(Masks(), renames)


def test_a_lake_keeps_its_rules(tmp_path: Path) -> None:
    first = Rules.of(Masks.of(mask=["s.t.a=null"]), ["s=r"])
    fill(tmp_path, ROTATED, rules=first)
    fill(tmp_path, ROTATED, rules=first)
    with pytest.raises(UsageError, match=r"the lake has the mask s\.t\.a=null"):
        fill(tmp_path, ROTATED, rules=Rules.of(Masks(), ["s=r"]))
    with pytest.raises(UsageError, match="other renames, which cannot change: s=r"):
        fill(tmp_path, ROTATED, rules=Rules(first.masks))
    more = Rules.of(Masks.of(mask=["s.t.a=null", "s.t.b=null"]), ["s=r"])
    fill(tmp_path, ROTATED, rules=more)
    assert Rules.of_dict(first.as_dict()) == first


def test_a_statement_that_uncovers_a_column_ends_the_run() -> None:
    rules = Rules(Masks.of(mask=["*.*.email=null"]))
    effect: Any = Effect(4, EffectKind.COLUMNS_MOVED, "s", "t", columns=(("email", "mail"),))
    assert asdict(effect)["columns"]
    with pytest.raises(UsageError, match=r"s\.t\.email is masked or left out, and a statement renames it"):
        rules.check_effects([effect])
    NO_RULES.check_effects([effect])
