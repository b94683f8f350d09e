"""Catalogs of Iceberg tables on this machine: SQLite's, and a server of Iceberg's own REST catalog."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

ROOT = Path(__file__).parents[2]
JARS = ROOT / "build/rest-catalog"

_JAVA = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


@contextmanager
def configured(monkeypatch: pytest.MonkeyPatch, **properties: str) -> Iterator[None]:
    """The pipeline's catalog has these properties, here and in processes that start meanwhile."""
    with monkeypatch.context() as patch:
        for name, value in properties.items():
            patch.setenv(f"PYICEBERG_CATALOG__BINLOG__{name.upper()}", value)
        yield


def need_jars() -> None:
    """Skip a test for which Maven cannot get the catalog."""
    if (JARS / "complete").exists():
        return
    if shutil.which("mvn") is None:
        pytest.skip("without Maven, there is no REST catalog")
    pom = Path(__file__).parent / "rest_catalog/pom.xml"
    command = ["mvn", "--quiet", "--batch-mode", "-f", str(pom), "dependency:copy-dependencies"]
    # In the user's own repository, Spark would find descriptions of jars that are not there, and fail.
    folders = [f"-DoutputDirectory={JARS}", f"-Dmaven.repo.local={JARS / 'repository'}"]
    if subprocess.run([*command, *folders]).returncode:
        pytest.skip("without a network, Maven cannot get the REST catalog")
    (JARS / "complete").touch()


@contextmanager
def rest_catalog(folder: Path) -> Iterator[str]:
    """A server on 127.0.0.1, whose tables are in the store of this process's environment; gives its URL."""
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    need_jars()
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    port = launch_gateway(jarpath=str(jar), classpath=f"{JARS}/*", javaopts=_JAVA, die_on_exit=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
    java = gateway.jvm
    try:
        catalog = java.org.apache.iceberg.jdbc.JdbcCatalog()
        properties = {
            "uri": f"jdbc:sqlite:{folder}/rest.db",
            "warehouse": "s3://logs/warehouse",
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "client.region": os.environ["AWS_REGION"],
            "s3.endpoint": os.environ["AWS_ENDPOINT_URL"],
            "s3.path-style-access": "true",
            "s3.access-key-id": os.environ["AWS_ACCESS_KEY_ID"],
            "s3.secret-access-key": os.environ["AWS_SECRET_ACCESS_KEY"],
        }
        catalog.initialize("rest", properties)
        servlet = java.org.apache.iceberg.rest.RESTCatalogServlet(
            java.org.apache.iceberg.rest.RESTCatalogAdapter(catalog)
        )
        server = java.org.eclipse.jetty.server.Server(java.java.net.InetSocketAddress("127.0.0.1", 0))
        context = java.org.eclipse.jetty.servlet.ServletContextHandler()
        context.addServlet(java.org.eclipse.jetty.servlet.ServletHolder(servlet), "/*")
        server.setHandler(context)
        server.start()
        yield f"http://127.0.0.1:{server.getURI().getPort()}"
    finally:
        gateway.shutdown()
