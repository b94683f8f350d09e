"""Server addresses from a URL, option files and the environment, as for the servers' own clients.

The URL has the highest precedence, followed by option files (groups `[client]` and `[binlog-kaitai]`, the
later one first), and the environment (`MYSQL_PWD`, `MYSQL_HOST`, `MYSQL_TCP_PORT`, `MYSQL_UNIX_PORT`). Other
users of the machine can see a password in a URL on the command line; use option files or the environment
instead.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from binlog_kaitai.errors import SourceError, UsageError, reading

SCHEMES = ("mysql", "mariadb")

#: The option files that the clients read, in this order.
OPTION_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf")
GROUPS = ("client", "binlog-kaitai")

_ENVIRONMENT = {
    "password": "MYSQL_PWD",
    "host": "MYSQL_HOST",
    "port": "MYSQL_TCP_PORT",
    "socket": "MYSQL_UNIX_PORT",
}
_IN_URL = (
    "socket", "ssl-mode", "ssl-ca", "ssl-capath", "ssl-cert", "ssl-key", "server-public-key-path",
    "get-server-public-key", "enable-cleartext-plugin", "connect-timeout",
)  # fmt: skip
_MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
_INCLUDES = 8


@dataclass(frozen=True)
class Address:
    """A server, and how to log in.

    `scheme`: ``mysql`` or ``mariadb``; the server's version determines which it really is.
    `tls_mode`: as for `--ssl-mode` of MySQL's clients: DISABLED, PREFERRED, REQUIRED, VERIFY_CA or
    VERIFY_IDENTITY.
    `public_key_file`: the server's RSA key, with which the password is encrypted where there is no TLS.
    `gets_public_key`, `allows_clear_text`: see `Connection`.
    """

    scheme: str
    host: str
    port: int
    user: str | None
    password: str = field(repr=False)
    socket: str | None
    tls_mode: str
    tls_files: Mapping[str, str]
    connect_timeout: float
    public_key_file: str | None
    gets_public_key: bool
    allows_clear_text: bool

    @classmethod
    def parse(cls, url: str, *, defaults_file: str | None = None) -> list[Address]:
        """The servers in a URL, with options from option files and the environment.

        `url`: ``mysql://[user[:password]@]host[:port][,host[:port]…][/][?ssl-mode=…&ssl-ca=…&socket=…]``.
        Raises `UsageError`: the URL is invalid, or one of its values; `SourceError`: the option file cannot
        be read.
        """
        options = {name: value for name, key in _ENVIRONMENT.items() if (value := os.environ.get(key))}
        options.update(read_options(defaults_file))
        parts = ServerUrl.of(url)
        in_url, hosts = _parse_url(parts)
        options.update(in_url)
        base = cls(
            scheme=parts.scheme.lower(),
            host="",
            port=0,
            user=options.get("user"),
            password=options.get("password", ""),
            socket=options.get("socket"),
            tls_mode=_tls_mode(options),
            tls_files={key: options[f"ssl-{key}"] for key in _TLS_FILES if options.get(f"ssl-{key}")},
            connect_timeout=_seconds(options.get("connect-timeout", "10")),
            public_key_file=options.get("server-public-key-path") or None,
            gets_public_key=_is_on(options, "get-server-public-key"),
            allows_clear_text=_is_on(options, "enable-cleartext-plugin"),
        )
        return [
            replace(
                base,
                host=host or options.get("host", "localhost"),
                port=_port(port or options.get("port", "3306")),
                # A socket in the option file belongs to this machine's server.
                socket=base.socket if not (host or options.get("host")) or "socket" in in_url else None,
            )
            for host, port in hosts or [("", "")]
        ]

    @property
    def name(self) -> str:
        """The server's name in messages, without password and options."""
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{user}{self.socket or f'{host}:{self.port}'}/"

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for `Connection`."""
        arguments: dict[str, Any] = {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password.encode("utf-8", "surrogateescape"),
            "connect_timeout": self.connect_timeout,
            "gets_public_key": self.gets_public_key,
            "allows_clear_text": self.allows_clear_text,
        }
        if self.public_key_file is not None:
            with reading(self.public_key_file):
                arguments["server_public_key"] = Path(self.public_key_file).read_bytes()
        if self.socket:
            arguments["unix_socket"] = self.socket
        if self.tls_mode == "DISABLED":
            arguments["ssl_disabled"] = True
        elif self.tls_mode != "PREFERRED":
            arguments["ssl"] = _context(self.tls_mode, self.tls_files)
        return arguments


_TLS_FILES = ("ca", "capath", "cert", "key")


class ServerUrl(NamedTuple):
    """The parts of a server's URL, which together are the URL."""

    scheme: str
    login: str
    hosts: str
    options: str

    @classmethod
    def of(cls, url: str) -> ServerUrl:
        """The parts of a URL; no message quotes it, since it may have a password anywhere."""
        if url.partition("://")[0].lower() not in SCHEMES:
            raise UsageError("a server URL must begin with mysql:// or mariadb://")
        if (parts := _URL.fullmatch(url)) is None:
            raise UsageError(
                "a server URL is mysql://USER:PASSWORD@HOST:PORT/?OPTIONS, without a path: a binary log "
                "covers all databases; percent-encode special characters in the password"
            )
        return cls(*parts.groups(""))

    def __str__(self) -> str:
        return f"{self.scheme}://{self.login}{self.hosts}/{self.options}"

    def pairs(self) -> list[tuple[str, str]]:
        """The options with their values."""
        try:
            return parse_qsl(self.options[1:], keep_blank_values=True, strict_parsing=len(self.options) > 1)
        except ValueError:
            raise UsageError("the options of a server URL must be NAME=VALUE, joined by &") from None

    def with_options(self, pairs: list[tuple[str, str]]) -> ServerUrl:
        """The URL with other options."""
        return self._replace(options=f"?{urlencode(pairs)}" if pairs else "")


#: Passwords have any characters in practice, although some should be percent-encoded.
_URL = re.compile(r"(?s)(\w+)://([^:/?#]*(?::(?:(?!/\?).)*?)?@)?([^@/?#]*)/?(\?.*)?")


def _parse_url(url: ServerUrl) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The options of a URL, and its hosts with their ports."""
    options = {}
    for key, value in url.pairs():
        name = key.replace("_", "-").lower()
        if name not in _IN_URL:
            raise UsageError(f"{key!r} is not a valid option of a server URL; use {', '.join(_IN_URL)}")
        options[name] = value
    user, colon, password = url.login.removesuffix("@").partition(":")
    if user:
        options["user"] = unquote(user)
    if colon:
        options["password"] = unquote(password)
    return options, [_split_host(host) for host in url.hosts.split(",") if host]


def _split_host(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.removeprefix(":")
    host, _, port = text.partition(":")
    return unquote(host), port


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16:
        return int(text)
    # It is not quoted: in mysql://USER:PASSWORD it is the password.
    raise UsageError("the port of a server must be a number from 1 to 65535")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1 << 20:
        raise UsageError(f"{text!r} is not a valid number of seconds")
    return value


# -- TLS


def _tls_mode(options: Mapping[str, str]) -> str:
    """The TLS mode of the options; MariaDB's clients have different switches."""
    mode = options.get("ssl-mode", "").upper()
    if mode and mode not in _MODES:
        raise UsageError(f"{mode!r} is not a valid ssl-mode; use {', '.join(_MODES)}")
    if mode:
        return mode
    if _is_off(options, "ssl") or "skip-ssl" in options or "disable-ssl" in options:
        return "DISABLED"
    if "ssl-verify-server-cert" in options and not _is_off(options, "ssl-verify-server-cert"):
        return "VERIFY_IDENTITY"
    if options.get("ssl-ca") or options.get("ssl-capath"):
        return "VERIFY_CA"
    return "REQUIRED" if "ssl" in options else "PREFERRED"


def _is_off(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "").lower() in ("0", "off", "false")


def _is_on(options: Mapping[str, str], name: str) -> bool:
    """Whether a switch is on, which needs no value in an option file."""
    if name not in options or _is_off(options, name):
        return False
    if options[name].lower() in ("", "1", "on", "true"):
        return True
    raise UsageError(f"{options[name]!r} is not a valid value of {name}; use 1 or 0")


def _context(mode: str, files: Mapping[str, str]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=files.get("ca"), capath=files.get("capath"))
        # Certificates that servers generate lack extensions that Python 3.13 requires.
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        context.check_hostname = mode == "VERIFY_IDENTITY"
        context.verify_mode = ssl.CERT_REQUIRED if mode.startswith("VERIFY") else ssl.CERT_NONE
        if "cert" in files:
            context.load_cert_chain(files["cert"], files.get("key"))
    except (OSError, ssl.SSLError) as error:
        names = ", ".join(files.values())
        raise SourceError(f"the TLS files cannot be used: {error}", file=names or None) from error
    return context


# -- option files


def read_options(defaults_file: str | None) -> dict[str, str]:
    """Options of the relevant groups, from a single file, or from the default ones that can be read."""
    paths = [Path(name).expanduser() for name in OPTION_FILES]
    paths = [path for path in paths if os.access(path, os.R_OK)]
    if defaults_file is not None:
        paths = [Path(defaults_file)]
    by_group: dict[str, dict[str, str]] = {}
    for path in paths:
        with reading(str(path)):
            for group, name, value in _options_of(path, 0):
                by_group.setdefault(group, {})[name] = value
    return {name: value for group in GROUPS for name, value in by_group.get(group, {}).items()}


def _options_of(path: Path, depth: int) -> Iterator[tuple[str, str, str]]:
    """Group, name and value of each option; names have hyphens, a switch has no value."""
    if depth > _INCLUDES:
        raise UsageError("option files include each other", file=str(path))
    group = ""
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        text = line.strip()
        if text.startswith("!include"):
            word, _, target = text.partition(" ")
            included = Path(target.strip())
            files = sorted(included.glob("*.cnf")) if word == "!includedir" else [included]
            for file in filter(Path.is_file, files):
                yield from _options_of(file, depth + 1)
        elif text.startswith("["):
            group = text[1:].partition("]")[0].strip()
        elif text and text[0] not in "#;!":
            name, _, value = text.partition("=")
            plain = name.strip().lower().replace("_", "-").removeprefix("loose-")
            yield group, plain, _unquoted(value.strip())


def _unquoted(value: str) -> str:
    """A value without its quotes or trailing comment, and with the clients' escapes resolved."""
    if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
        return _escaped(value[1 : value.rindex(value[0])])
    return _escaped(value.partition(" #")[0].rstrip())


_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " "}


def _escaped(value: str) -> str:
    parts = value.split("\\")
    text = parts[0]
    rest = iter(parts[1:])
    for part in rest:
        if not part:  # two separators in a row
            text += "\\" + next(rest, "")
        else:
            text += _ESCAPES.get(part[0], "\\" + part[0]) + part[1:]
    return text
