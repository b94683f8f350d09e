"""Remote logs: a real S3 server on this machine, accessed like any other."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from binlog_kaitai.sources import remote
from binlog_kaitai.views.splits import plan, read_split
from tests.earlier_logs import files_before
from tests.object_store import LOGS, serving_logs


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with serving_logs() as url:
        yield url


def names(found: list[bk.End]) -> list[str]:
    return [end.file.rpartition("/")[2] for end in found]


@pytest.mark.parametrize(
    ("path", "logs"),
    [
        ("", LOGS),
        ("/", LOGS),
        ("/binlog.000002", LOGS[1:2]),
        ("/binlog.00000[12]", LOGS[:2]),
        ("/binlog.*", LOGS),
        ("/binlog.index", LOGS[1:3]),
    ],
)
def test_what_a_url_means(bucket: str, path: str, logs: list[object]) -> None:
    with bk.open(bucket + path) as log:
        events = [(event.position, event.raw) for event in log]
        assert names(log.ends) == [str(log).rpartition("/")[2] for log in logs]
    assert events == [(event.position, event.raw) for event in bk.open([str(log) for log in logs])]


def test_containers_of_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    """What precedes ``@`` in a host is Azure's container, not a credential."""
    url = "abfss://logs@account.dfs.core.windows.net/a/binlog.000001"
    assert remote.without_options(url) == url
    assert remote.without_options(url.replace("logs@", "logs:key@") + "?enable_tls=true") == url
    assert remote.without_options("s3://key:secret@logs/a?region=x") == "s3://logs/a"
    with remote.changing(url) as (system, path):
        assert (system.type_name, path) == ("abfs", "logs/a/binlog.000001")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    with remote.changing("wasbs://other/a/binlog.000001") as (system, path):
        assert (system.type_name, path) == ("abfs", "other/a/binlog.000001")


def test_columns_and_splits(bucket: str) -> None:
    local = bk.read_changes([str(log) for log in LOGS], table="t.a").read_all()
    there = bk.read_changes(bucket.replace("s3:", "s3a:"), table="t.a").read_all()
    assert without_file(there) == without_file(local)
    splits = plan(bucket, 1000)
    parts = [
        batch
        for split in splits
        for batch in read_split(split, table="t.a", schema=local.schema, earlier=files_before(splits, split))
    ]
    assert len(splits) > len(LOGS)
    assert without_file(pa.Table.from_batches(parts)) == without_file(local)


def without_file(table: pa.Table) -> list[object]:
    found: list[object] = table.drop_columns(["_file"]).to_pylist()
    return found


@pytest.mark.parametrize("path", ["/nothing.000001", "/nothing.*", "-not-there"])
def test_nothing_is_there(bucket: str, path: str) -> None:
    with pytest.raises(bk.SourceError, match=r"nothing|not-there"):
        list(bk.open(bucket + path))


def test_a_scheme_that_nobody_knows() -> None:
    with pytest.raises(bk.SourceError, match=r"fsspec|Protocol not known"):
        bk.open("nowhere://logs/binlog.000001")


def test_little_is_fetched_for_a_look_and_much_for_reading_on() -> None:
    data = os.urandom(40 << 20)
    file = remote.Ranged(pa.BufferReader(data))
    for at in (0, 30 << 20, 5, 20 << 20):
        file.seek(at)
        assert file.read(100) == data[at : at + 100]
    assert file.fetched <= 4 * (64 << 10)
    file.seek(0)
    assert file.read() == data
    assert file.seek(-3, io.SEEK_END) == len(data) - 3
    assert file.read(10) == data[-3:]
