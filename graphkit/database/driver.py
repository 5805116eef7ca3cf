"""Connect with the Bolt driver, which is imported late, and list its errors."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from graphkit.database.access import Access, Login
from graphkit.database.messages import shortened, translated
from graphkit.database.settings import hide_password
from graphkit.errors import DatabaseError

if TYPE_CHECKING:
    import neo4j

CONNECT_SECONDS = 10.0  # for the network connection alone
ANSWER_SECONDS = 15.0  # for connection, handshake and login together


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
            max_transaction_retry_time=access.retry_seconds,
            warn_notification_severity=neo4j.NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
            user_agent="graphkit",
        )
    except (ConfigurationError, ValueError) as error:
        raise DatabaseError(
            f"The address of the database can't be used: {shortened(str(error))}",
            where=hide_password(access.uri),
            remedy=access.address_remedy,
        ) from error
    except driver_errors() as error:
        raise translated(error, access, access.dialect) from error


def agent_of(driver: neo4j.Driver, access: Access) -> str:
    """Return the agent text in which the server names itself.

    Raise DatabaseError if the server doesn't answer, or refuses the account.
    """
    try:
        return driver.get_server_info().agent
    except driver_errors() as error:
        raise translated(error, access, access.dialect) from error
