"""URLs, option files and the environment: given these, this login."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from unittest import mock

import pytest

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.live.address import Address
from binlog_kaitai.sources import is_server


@pytest.fixture
def parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """`Address.parse` with option files of the test's own, by name."""
    monkeypatch.setattr("binlog_kaitai.live.address.OPTION_FILES", (str(tmp_path / "my.cnf"),))

    def parse(url: str, options: str = "", **environment: str) -> Address:
        (tmp_path / "my.cnf").write_text(options)
        with mock.patch.dict(os.environ, environment):
            return Address.parse(url)[0]

    return parse


def test_what_a_url_says(parse) -> None:  # type: ignore[no-untyped-def]
    found = parse("mysql://ar%40ch:se%2Fcret@db1:3307/?ssl-mode=required&connect_timeout=3")
    assert (found.user, found.password, found.host, found.port) == ("ar@ch", "se/cret", "db1", 3307)
    assert (found.tls_mode, found.connect_timeout) == ("REQUIRED", 3.0)
    assert found.name == "mysql://ar@ch@db1:3307/"
    assert "cret" not in found.name + repr(found)
    assert parse("mariadb://[::1]:3310").name == "mariadb://[::1]:3310/"


def test_several_hosts(tmp_path: Path) -> None:
    found = Address.parse("mysql://u@a,b:3307,c/", defaults_file=str(_file(tmp_path, "")))
    assert [(one.host, one.port) for one in found] == [("a", 3306), ("b", 3307), ("c", 3306)]


def _file(folder: Path, text: str) -> Path:
    path = folder / "given.cnf"
    path.write_text(text)
    return path


def test_url_then_files_then_environment(parse) -> None:  # type: ignore[no-untyped-def]
    options = """
[client]
user = one
password = "a # 'b'\\t"   # not a part of it
loose_ssl_ca=/client.pem
[mysqld]
password = no
[binlog-kaitai]
user = two
port=3311
"""
    environment = {"MYSQL_PWD": "no", "MYSQL_HOST": "there", "MYSQL_TCP_PORT": "1"}
    found = parse("mysql://", options, **environment)
    assert (found.user, found.password, found.host, found.port) == ("two", "a # 'b'\t", "there", 3311)
    assert (found.tls_mode, dict(found.tls_files)) == ("VERIFY_CA", {"ca": "/client.pem"})
    assert parse("mysql://three:x@h", options, **environment).password == "x"
    assert parse("mysql://h", "", **environment).password == "no"


def test_a_file_of_options_may_include_others(parse, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "a.cnf").write_text("[client]\npassword=inner")
    found = parse("mysql://h", f"!includedir {tmp_path}/conf.d\n!include {tmp_path}/none.cnf\n")
    assert found.password == "inner"


def test_a_socket_of_the_file_is_that_of_this_machine(parse) -> None:  # type: ignore[no-untyped-def]
    options = "[client]\nsocket=/run/my.sock"
    assert parse("mysql://u@", options).arguments()["unix_socket"] == "/run/my.sock"
    assert "unix_socket" not in parse("mysql://u@db1", options).arguments()
    assert parse("mysql://u@db1?socket=/x").name == "mysql://u@/x/"


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ("", "PREFERRED"),
        ("ssl", "REQUIRED"),
        ("skip-ssl", "DISABLED"),
        ("ssl=0", "DISABLED"),
        ("ssl-ca=/x", "VERIFY_CA"),
        ("ssl-verify-server-cert", "VERIFY_IDENTITY"),
        ("ssl-ca=/x\nssl-mode=REQUIRED", "REQUIRED"),
    ],
)
def test_tls_as_the_clients_name_it(parse, options: str, mode: str) -> None:  # type: ignore[no-untyped-def]
    assert parse("mysql://h", f"[client]\n{options}\n").tls_mode == mode


def test_what_is_verified(parse) -> None:  # type: ignore[no-untyped-def]
    contexts = {
        mode: parse(f"mysql://h?ssl-mode={mode}").arguments().get("ssl")
        for mode in ("PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
    }
    assert contexts["PREFERRED"] is None
    assert contexts["REQUIRED"].verify_mode == ssl.CERT_NONE
    assert [contexts[mode].verify_mode for mode in ("VERIFY_CA", "VERIFY_IDENTITY")] == [
        ssl.CERT_REQUIRED
    ] * 2
    assert [contexts[mode].check_hostname for mode in ("VERIFY_CA", "VERIFY_IDENTITY")] == [False, True]
    assert parse("mysql://h?ssl-mode=DISABLED").arguments()["ssl_disabled"] is True


@pytest.mark.parametrize(
    "url",
    [
        "http://h",
        "mysql:/h",
        "mysql://h:x",
        "mysql://h:0",
        "mysql://h/db",
        "mysql://h?a=b",
        "mysql://h?ssl-mode=ON",
    ],
)
def test_what_is_no_address(parse, url: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        parse(url)


def test_files_that_are_not_there(parse) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SourceError, match=r"none\.pem"):
        parse("mysql://h?ssl-ca=/none.pem").arguments()
    with pytest.raises(SourceError):
        Address.parse("mysql://h", defaults_file="/none.cnf")


def test_server_urls() -> None:
    assert [is_server(one) for one in ("mysql://h", "MariaDB://h", "s3://b/k", "mysql")] == [
        True,
        True,
        False,
        False,
    ]
