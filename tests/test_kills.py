"""The short form of ``python -m tests.kills``: some kills over every command, on each database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.engines import EngineSettings, folder_in_memory
from tests.helpers.killed import Database, embedded_database
from tests.kills import series, table

#: Each kind of command at least once, and loads several times. On Neo4j, a look at the graph takes several times as
#: long. `python -m tests.kills` kills a thousand times.
KILLS = {"embedded": 13, "neo4j": 6}


@pytest.mark.slow("kills, each with a look at the whole graph, and loads of four versions before")
def test_nothing_half_is_called_whole(tmp_path: Path, engine_settings: EngineSettings) -> None:
    """Killed commands leave nothing lost, doubled or wrongly marked as complete, and the next command completes it.

    The embedded database is one of its own, and killed as well. Commands that only write files use no database, and
    are killed beside the embedded one.
    """
    kills = KILLS[engine_settings.engine]
    if engine_settings.engine == "embedded":
        with folder_in_memory("graphkit-kills-") as folder, embedded_database(folder) as database:
            tallies = series(database, tmp_path, kills, seed=7)
    else:
        tallies = series(Database(engine_settings.settings), tmp_path, kills, seed=7, files=False)
    total = table(tallies)
    assert sum(one.kills for one in tallies.values()) >= kills - 2, total
    assert sum(one.replacing for one in tallies.values()) >= kills // 4, total
    assert not any(one.bad for one in tallies.values()), total
