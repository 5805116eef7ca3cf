"""Imports what commands of graphkit import when they run: ``tests.helpers.forked`` does it once for all its forks."""

from __future__ import annotations

import neo4j
import numpy
import rich.console
import rich.table
import scipy.stats
import typer

import graphkit
from graphkit.analysis import evaluation_findings
from graphkit.cli.app import app
from graphkit.plugins.completion.shell_scripts import commands_of
from graphkit.plugins.embedded import client
from graphkit.report import rendering
from graphkit.scoring import evaluate

#: Each of these takes as long to import as most commands take for their work.
SLOW = (
    neo4j.GraphDatabase,
    numpy,
    rich.console,
    rich.table,
    scipy.stats,
    evaluation_findings,
    client,
    rendering,
    evaluate,
)

for _name in graphkit.__all__:
    getattr(graphkit, _name)
for _ in commands_of(typer.main.get_command(app)):
    pass
