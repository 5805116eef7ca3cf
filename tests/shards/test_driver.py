"""The service of a driver: who may call it, what an error becomes, and what a worker sees when the driver is gone."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.shards.driver_link import DriverLink, LostDriverError
from graphkit.shards.driver_service import Contact, driver_host, serving
from graphkit.shards.event_loop import call_in_thread


async def doubled(value: Any) -> Any:
    """Return twice a number; refuse 3."""
    if value == 3:
        raise InputError("three is refused", where="numbers:3", remedy="Leave it out.", details=["it is odd"])
    return 2 * value


async def never(value: Any) -> Any:
    """Return nothing for an hour."""
    await asyncio.sleep(3600)


def called(contact: Contact, name: str, *values: Any) -> list[Any]:
    """Return the answers to calls that are under way at the same time."""
    with DriverLink(contact) as link:
        return [future.result() for future in [link.send(name, value) for value in values]]


def test_calls_are_answered() -> None:
    """Each call gets its own answer, and an error of the driver has its parts in the worker."""

    async def work() -> None:
        async with serving({"doubled": doubled}) as contact:
            assert await call_in_thread(called, contact, "doubled", 1, 2, "é\ud800") == [2, 4, "é\ud800é\ud800"]
            with pytest.raises(InputError) as refused:
                await call_in_thread(called, contact, "doubled", 3)
            assert str(refused.value) == "numbers:3: three is refused\n  it is odd\n  Leave it out."

    asyncio.run(work())


def test_only_the_token_opens() -> None:
    """A worker with another token is turned away, a silent connection holds up nobody, and no text shows the token."""

    async def work() -> None:
        async with serving({"doubled": doubled}) as contact:
            with socket.create_connection((contact.host, contact.port)):
                other = dataclasses.replace(contact, token=bytes(32))
                with pytest.raises(LostDriverError, match="can't reach graphkit"):
                    await call_in_thread(called, other, "doubled", 1)
                assert await call_in_thread(called, contact, "doubled", 1) == [2]
            assert "token" not in repr(contact)

    asyncio.run(work())


def test_a_driver_that_stops_ends_its_workers() -> None:
    """What a worker waits for ends with an error when the service is gone."""

    async def work() -> asyncio.Future[Any]:
        async with serving({"never": never}) as contact:
            waiting = asyncio.ensure_future(call_in_thread(called, contact, "never", 1))
            await asyncio.sleep(0.2)
        with pytest.raises(LostDriverError):
            await waiting
        return waiting

    assert asyncio.run(work()).done()


def test_workers_of_this_machine_use_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a cluster elsewhere has the service listen beyond loopback, and a variable names another address."""
    for on in (None, "processes=4", "dask", "dask=tcp://127.0.0.1:8786", "ray=ray://127.0.0.1:10001"):
        assert driver_host(on) == "127.0.0.1"
    monkeypatch.setenv("GRAPHKIT_DRIVER_HOST", "10.1.2.3")
    assert driver_host("dask=tcp://10.1.2.4:8786") == "10.1.2.3"
