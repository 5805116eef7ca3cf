"""The tool neo4j-admin for tests, from jars: ``python admin.py JAVA JARS ARGUMENTS...``; NEO4J_HOME is its folder."""

from __future__ import annotations

import sys
from pathlib import Path

import jpype


def main(java: str, jars: str, *arguments: str) -> None:
    """Run the tool, which ends the process with its exit code."""
    options = ["-Xmx1g", "-XX:+UseSerialGC", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    jpype.startJVM(str(Path(java, "lib/server/libjvm.so")), *options, classpath=[f"{jars}/*"], convertStrings=True)
    jpype.JClass("org.neo4j.cli.AdminTool").main(jpype.JArray(jpype.JString)(arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
