"""Passwords: given these requests of a server, over this connection, this is sent."""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from pymysql._auth import scramble_caching_sha2, scramble_native_password

from binlog_kaitai.errors import ServerError, SourceError, UsageError
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.server_logs import anyone
from binlog_kaitai.live.server_session import ServerSession
from tests.live.scripted_server import OK, SALT, ScriptedServer, greeting, switch

PASSWORD = b"sesame"
CLEAR = PASSWORD + b"\0"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
FULL_LOGIN, HAVE_KEY = b"\1\4", b"\1" + PEM


@pytest.fixture(autouse=True)
def _no_option_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("binlog_kaitai.live.address.OPTION_FILES", ())


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A certificate that nobody has signed."""
    folder = tmp_path_factory.mktemp("tls")
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    begin = datetime.datetime(2020, 1, 1)
    certificate = (
        x509.CertificateBuilder(name, name, KEY.public_key(), x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=36500))
        .sign(KEY, hashes.SHA256())
    )
    secret = KEY.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "a.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "a.pem")
    return context


def log_in(server: ScriptedServer, options: str = "") -> list[bytes]:
    """What the server has read during a login."""
    with server, ServerSession(Address.parse(server.url + options)[0], anyone(), heartbeat=0.1):
        return server.said


def refused(server: ScriptedServer, words: str, options: str = "") -> None:
    """The login ends with an error, and neither the password nor an encrypted one was sent."""
    with server, pytest.raises(ServerError, match=words) as caught:
        ServerSession(Address.parse(server.url + options)[0], anyone(), heartbeat=0.1)
    assert str(caught.value).startswith(server.name)
    assert PASSWORD not in b"".join(server.said)
    assert all(len(said) != KEY.key_size // 8 for said in server.said)


def decrypted(data: bytes) -> bytes:
    mask = padding.MGF1(hashes.SHA1())
    masked = KEY.decrypt(data, padding.OAEP(mask, hashes.SHA1(), None))
    return bytes(one ^ SALT[at % len(SALT)] for at, one in enumerate(masked))


def asks(method: str, *login: bytes, tls: ssl.SSLContext | None = None) -> ScriptedServer:
    """A server that switches to a method."""
    return ScriptedServer(login=[switch(method), *login, OK], tls=tls)


def test_hashes_are_sent_over_any_connection() -> None:
    assert log_in(asks("mysql_native_password"))[1] == scramble_native_password(PASSWORD, SALT)
    assert log_in(asks("caching_sha2_password", b"\1\3"))[1] == scramble_caching_sha2(PASSWORD, SALT)


@pytest.mark.parametrize("method", ["mysql_clear_password", "dialog"])
def test_clear_text_needs_tls_and_permission(method: str, tls: ssl.SSLContext) -> None:
    prompt = switch(method, b"\4Password: ")
    for option in ("", "?enable-cleartext-plugin=1"):
        refused(ScriptedServer(login=[prompt, OK]), f"{method}.*without TLS", option)
    refused(ScriptedServer(login=[prompt, OK], tls=tls), f"{method}.*enable-cleartext-plugin=1")
    said = log_in(ScriptedServer(login=[prompt, OK], tls=tls), "?enable-cleartext-plugin=1")
    assert said[1] == CLEAR


@pytest.mark.parametrize("hello", ["mysql_native_password", "caching_sha2_password", "sha256_password"])
@pytest.mark.parametrize(
    ("method", "full"), [("caching_sha2_password", [FULL_LOGIN, HAVE_KEY]), ("sha256_password", [HAVE_KEY])]
)
def test_a_key_that_nobody_knows(hello: str, method: str, full: list[bytes]) -> None:
    """Whatever method the server begins with."""
    login = [*full, OK] if hello == method else [switch(method), *full, OK]

    def server() -> ScriptedServer:
        return ScriptedServer(hello=greeting(hello), login=login)

    refused(server(), "server-public-key-path=FILE; or get-server-public-key=1")
    refused(server(), "server-public-key-path=FILE; or get-server-public-key=1", "?get-server-public-key=0")
    said = log_in(server(), "?get-server-public-key=1")
    assert CLEAR in [decrypted(one) for one in said if len(one) == KEY.key_size // 8]


def test_a_trusted_key() -> None:
    server = asks("caching_sha2_password", FULL_LOGIN, HAVE_KEY)
    said = log_in(server, "?get-server-public-key=1")
    assert said[2] == b"\2"
    assert decrypted(said[3]) == CLEAR
    server = asks("sha256_password", HAVE_KEY)
    said = log_in(server, "?get-server-public-key=1")
    assert said[1] == b"\1"
    assert decrypted(said[2]) == CLEAR


def test_a_key_from_a_file_takes_precedence_over_one_that_is_sent(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(PEM)
    option = f"?server-public-key-path={tmp_path}/key.pem"
    assert decrypted(log_in(asks("caching_sha2_password", FULL_LOGIN), option)[2]) == CLEAR
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    theirs = other.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    server = ScriptedServer(hello=greeting("sha256_password"), login=[b"\1" + theirs, OK])
    assert decrypted(log_in(server, option)[1]) == CLEAR
    with pytest.raises(SourceError, match=r"none\.pem"):
        log_in(asks("sha256_password"), "?server-public-key-path=/none.pem")


def test_over_tls_no_key_is_needed(tls: ssl.SSLContext) -> None:
    assert log_in(asks("caching_sha2_password", FULL_LOGIN, tls=tls))[2] == CLEAR
    assert log_in(asks("sha256_password", tls=tls))[1] == CLEAR


def test_tls_that_is_required_is_not_given_up() -> None:
    refused(asks("mysql_native_password"), "SSL is required", "?ssl-mode=REQUIRED")


@pytest.mark.parametrize("key", [b"", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
def test_a_key_that_is_none(key: bytes) -> None:
    server = asks("caching_sha2_password", FULL_LOGIN, b"\1" + key)
    refused(server, "public key cannot be used", "?get-server-public-key=1")


def test_the_package_cryptography_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pymysql._auth._have_cryptography", False)
    server = asks("caching_sha2_password", FULL_LOGIN, HAVE_KEY)
    with pytest.raises(UsageError, match="without TLS, caching_sha2_password needs the package cryptography"):
        log_in(server, "?get-server-public-key=1")


@pytest.mark.parametrize("method", ["mysql_old_password", "authentication_webauthn_client", "", "a\x1b[2J"])
def test_methods_that_are_not_supported(method: str) -> None:
    refused(asks(method), "is not supported")


def test_switches() -> None:
    for text in ("", "1", "on", "TRUE"):
        assert Address.parse(f"mysql://h/?get-server-public-key={text}")[0].gets_public_key
    for text in ("0", "off", "false"):
        assert not Address.parse(f"mysql://h/?enable-cleartext-plugin={text}")[0].allows_clear_text
    with pytest.raises(UsageError, match="'maybe' is not a valid value of get-server-public-key"):
        Address.parse("mysql://h/?get-server-public-key=maybe")
