"""A Neo4j server for tests, from jars: ``python server.py JAVA JARS HEAP FOLDER PORT [NAME=VALUE ...]``.

It prints "ready" when it answers, and ends when its standard input ends. Further arguments are settings of Neo4j.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import jpype


def main(java: str, jars: str, heap: str, folder: str, port: str, *settings: str) -> None:
    """Serve until the standard input ends."""
    # The virtual machine itself, without the launcher: the one of the embedded database has no compiler of sources.
    options = [f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"]
    jpype.startJVM(str(Path(java, "lib/server/libjvm.so")), *options, classpath=[f"{jars}/*"], convertStrings=True)
    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")(jpype.java.nio.file.Path.of(folder))
    address = f"127.0.0.1:{port}"
    given = {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": address,
        "server.bolt.advertised_address": address,  # what a routing table names
        **dict(setting.split("=", 1) for setting in settings),
    }
    file = Path(f"{folder}.conf")
    file.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    server = builder.loadPropertiesFromFile(jpype.java.nio.file.Path.of(str(file))).build()
    os.write(1, b"\nready\n")
    while sys.stdin.buffer.read(1):
        pass
    server.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
