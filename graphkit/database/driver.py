"""Connect with the Bolt driver, which is imported late, and list its errors."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from graphkit.database.access import Access, Login
from graphkit.database.messages import shortened, translated
from graphkit.database.settings import hide_password
from graphkit.errors import DatabaseError

if TYPE_CHECKING:
    import neo4j

CONNECT_SECONDS = 10.0  # for the network connection alone
ANSWER_SECONDS = 15.0  # for connection, handshake and login together
# Clouds and firewalls drop idle connections without a word: an idle one is tried first, an old one replaced.
IDLE_SECONDS = 30.0
LIFETIME_SECONDS = 480.0


def driver_errors() -> tuple[type[Exception], ...]:
    """Return the errors that the driver raises."""
    from neo4j.exceptions import DriverError, Neo4jError

    return (DriverError, Neo4jError, OSError)


def connected(access: Access, login: Login | None) -> neo4j.Driver:
    """Return a driver that logs in to a database; it connects at its first use."""
    import neo4j
    from neo4j.exceptions import ConfigurationError

    # Without a handler, Python would print the driver's warnings to standard error.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    try:
        return neo4j.GraphDatabase.driver(
            access.uri,
            auth=login,
            connection_timeout=CONNECT_SECONDS,
            connection_acquisition_timeout=ANSWER_SECONDS,
            liveness_check_timeout=IDLE_SECONDS,
            max_connection_lifetime=LIFETIME_SECONDS,
            max_transaction_retry_time=access.retry_seconds,
            **_quiet(),
            telemetry_disabled=True,
            user_agent="graphkit",
        )
    except (ConfigurationError, ValueError) as error:
        raise DatabaseError(
            f"the address of the database can't be used: {shortened(str(error))}",
            where=hide_password(access.uri),
            remedy=access.address_remedy,
        ) from error
    except driver_errors() as error:
        raise translated(error, access, access.dialect) from error


def _quiet() -> dict[str, Any]:
    """Return the setting by which the driver warns of no notification; version 5 doesn't, and warns of the setting."""
    import neo4j

    if int(neo4j.__version__.partition(".")[0]) < 6:
        return {}
    return {"warn_notification_severity": neo4j.NotificationMinimumSeverity.OFF}


def session_of(driver: neo4j.Driver, access: Access, *, read_only: bool) -> neo4j.Session:
    """Return a session that reads what any session of this driver wrote, from whichever member of a cluster."""
    import neo4j

    return driver.session(
        database=access.database,
        default_access_mode=neo4j.READ_ACCESS if read_only else neo4j.WRITE_ACCESS,
        bookmark_manager=driver.execute_query_bookmark_manager,
    )


def agent_of(driver: neo4j.Driver, access: Access) -> str:
    """Return the agent text in which the server names itself.

    Raise DatabaseError if the server doesn't answer, or refuses the account.
    """
    errors: tuple[type[Exception], ...] = (*driver_errors(), ValueError)  # version 5 raises it of an unknown host
    try:
        return driver.get_server_info().agent
    except errors as error:
        raise translated(error, access, access.dialect) from error
    except Exception as error:
        if type(error).__name__ != "UnsupportedServerProduct":
            raise
        return str(error)  # version 5 refuses a server with this agent, as graphkit does
