"""Lakes in an object store."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable
from pyarrow import fs

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import PLACE
from binlog_kaitai.lake.changes import changes
from binlog_kaitai.lake.storage import Storage, read_options
from tests.follow.logs import ROTATED
from tests.lake.lakes import DDL, contents, fill, opened, rows
from tests.object_store import serving, serving_logs


def test_a_lake_in_s3_is_that_of_a_disk(ddl_lake: Path) -> None:
    with serving():
        url = "s3://logs/lake"
        assert len(fill(url, DDL, 15_000)) > 1
        assert fill(url, DDL, 15_000) == []
        assert contents(opened(url)) == contents(opened(ddl_lake))
        table = changes(url, "t.c").read_all()
        assert rows(table) == rows(changes(str(ddl_lake), "t.c").read_all())
        assert table.num_rows > 0


def test_from_a_store_to_another_folder_of_it() -> None:
    with serving_logs() as logs:
        (batch,) = fill("s3://logs/another", [f"{logs}/binlog.index"])
        handle = DeltaTable("s3://logs/another/events", storage_options={"AWS_ALLOW_HTTP": "true"})
        stored = pa.table(handle.get_add_actions())
        assert sum(stored["num_records"].to_pylist()) == batch.rows["events"] > 0


#: Values that may be in nothing that is written.
SECRETS = {
    "AWS_ACCESS_KEY_ID": "key-of-the-lake",
    "AWS_SECRET_ACCESS_KEY": "secret/of+the=lake",
    "AWS_SESSION_TOKEN": "token-of-the-lake",
}


def objects(storage: Storage) -> dict[str, bytes]:
    with storage.opened() as (system, folder):
        infos = system.get_file_info(fs.FileSelector(folder, recursive=True))
        return {info.path: system.open_input_file(info.path).read() for info in infos if info.is_file}


def test_credentials_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a lake is written and read with them, and they are in none of it."""
    with serving() as (_, port):
        for name in SECRETS:
            monkeypatch.delenv(name, raising=False)
        settings = SECRETS | {"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        file = tmp_path / "s3.toml"
        file.write_text("".join(f'{name} = "{value}"\n' for name, value in settings.items()))
        options, url = read_options(str(file)), "s3://logs/guarded"
        assert options == settings
        monkeypatch.delenv("AWS_ENDPOINT_URL")
        monkeypatch.delenv("AWS_REGION")
        assert len(fill(url, ROTATED, 3000, storage_options=options, keeps_state=True)) > 1
        assert fill(url, ROTATED, 3000, storage_options=options) == []
        fill(tmp_path / "lake", ROTATED)
        table = changes(url, "t.a", storage_options=options).read_all()
        assert rows(table) == rows(changes(str(tmp_path / "lake"), "t.a").read_all())
        assert table.num_rows > 0
        for command in ("compact", "vacuum"):
            done = CliRunner().invoke(app, ["lake", command, url, "--storage-options", str(file)])
            assert done.exit_code == 0, done.output
            assert ("files joined into 1" in done.output) == (command == "compact")
        files = objects(Storage(url, options))
        assert {"events", "state", "_pipeline"} <= {path.split("/")[2] for path in files}
        monkeypatch.setenv("AWS_ENDPOINT_URL", settings["AWS_ENDPOINT_URL"])
        name = f"{PLACE}/_delta_log/{0:020}.json"
        denied = pytest.raises(SourceError, match=rf"^{url}/{name}: cannot be used: .* ACCESS_DENIED")
        with denied, Storage(url).opened(name) as (system, path):
            system.get_file_info(path)
        for path, data in files.items():
            assert not [name for name, value in SECRETS.items() if value.encode() in data], path


def test_storage_options_are_in_no_message() -> None:
    storage = Storage("s3://logs/lake", SECRETS)
    assert not [value for value in SECRETS.values() if value in f"{storage.name} {storage!r}"]
    error = OSError(f"403: <Token-0>{SECRETS['AWS_SESSION_TOKEN']}</Token-0>")
    assert storage.text_of(error) == "403: <Token-0>***</Token-0>"
    with pytest.raises(SourceError) as caught, storage.opened("events"):
        raise error
    assert str(caught.value) == "s3://logs/lake/events: cannot be used: 403: <Token-0>***</Token-0>"


@pytest.mark.parametrize(
    "url",
    [
        "lake",
        "gs://logs/lake",
        "abfss://logs@account.dfs.core.windows.net/lake",
        "s3://logs/lake?region=us-east-1",
        "s3://key:secret@logs/lake",
    ],
)
def test_storage_options_for_other_lakes(url: str) -> None:
    with pytest.raises(UsageError, match="are for a lake in S3 or Azure, whose URL has neither") as caught:
        Storage(url, SECRETS)
    assert "secret@" not in str(caught.value)


AZURE = {
    "AZURE_STORAGE_ACCOUNT_NAME": "account",
    "AZURE_STORAGE_ACCOUNT_KEY": "a2V5IG9mIHRoZSBsYWtl",
    "AZURE_STORAGE_ENDPOINT": "http://127.0.0.1:10000/account",
}


@pytest.mark.parametrize("scheme", ["abfss", "wasbs"])
def test_lake_in_azure(scheme: str) -> None:
    storage = Storage(f"{scheme}://logs@account.dfs.core.windows.net/the lake", AZURE)
    assert storage.name == storage.url_of("")
    assert storage.delta_url("events") == "abfss://logs@account.dfs.core.windows.net/the lake/events"
    assert storage.delta_options() == AZURE | {"ALLOW_HTTP": "true"}
    with storage.opened("events") as (system, path):
        assert path == "logs/the lake/events"
        assert system.type_name == "abfs"
    assert AZURE["AZURE_STORAGE_ACCOUNT_KEY"] not in storage.text_of(OSError(f"403: {AZURE}"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("AWS_SECRET_ACCESS_KEY = hidden", "not a valid TOML file"),
        ('AWS_SECRET = "hidden"', "unknown key AWS_SECRET; use AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "),
        ("AWS_ACCESS_KEY_ID = 12345", "AWS_ACCESS_KEY_ID must be a text"),
        ('AWS_SECRET_ACCESS_KEY = "hidden"', "AWS_ACCESS_KEY_ID required"),
        ("", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY required"),
        ('AZURE_STORAGE_ACCOUNT_KEY = "hidden"', "AZURE_STORAGE_ACCOUNT_NAME required"),
        ('AZURE_STORAGE_ACCOUNT_KEY = "hidden"\nAWS_REGION = "eu"', "unknown key AWS_REGION; use AZURE_"),
        (
            'AWS_ACCESS_KEY_ID = "a"\nAWS_SECRET_ACCESS_KEY = "hidden"\nAWS_ENDPOINT_URL = "minio:9000"',
            "AWS_ENDPOINT_URL must be a URL, such as https://minio:9000",
        ),
    ],
)
def test_invalid_files_of_options(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "s3.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_options(str(path))
    assert str(caught.value).startswith(f"{path}: {reason}")
    assert "hidden" not in str(caught.value)
    assert "12345" not in str(caught.value)
