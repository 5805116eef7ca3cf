"""Runs coroutines from code that has none, so that Ctrl-C ends them at once."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")

#: A handler of a signal.
Handler = Callable[[int, FrameType | None], object]

#: How often a thread that waits for another looks for interrupts, in seconds.
_POLL = 0.2


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, even if a loop is running already, as in a notebook. Ctrl-C cancels it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        return _run_in_thread(work)
    with _interrupts() as interrupted:
        woken = _woken_by_signals(work, interrupted)
        with contextlib.closing(work), contextlib.closing(woken):  # an interrupt may come before they begin
            return asyncio.run(woken)


@contextlib.contextmanager
def _interrupts() -> Iterator[Handler | None]:
    """Give Ctrl-C to asyncio, which takes it only from Python's own handler; yield that of the program, if it has one.

    A handler that the program's has installed meanwhile stays.
    """
    program = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(program) or program is signal.default_int_handler:
        yield None
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield program
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, program)


async def _woken_by_signals(work: Coroutine[Any, Any, T], program: Handler | None) -> T:
    """Await a coroutine, and let each signal end the wait of the event loop; Ctrl-C cancels it.

    The handler of the program is called before that, and says by KeyboardInterrupt that its time has come.

    The system may hand a signal to another thread, or to this one in the moment before it begins to wait. Python calls
    the handler only when the main thread computes again, which may be never: so the signal also writes to a socket that
    the loop waits for.
    """
    if threading.current_thread() is not threading.main_thread():
        return await work
    loop = asyncio.get_running_loop()
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        loop.add_reader(reader, reader.recv, 4096)
        former = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        cancel: Any = signal.getsignal(signal.SIGINT)

        def interrupted(number: int, frame: FrameType | None) -> None:
            try:
                if program is not None:
                    program(number, frame)
            except KeyboardInterrupt:
                cancel(number, frame)

        if program is not None:
            signal.signal(signal.SIGINT, interrupted)
        try:
            return await work
        finally:
            if signal.getsignal(signal.SIGINT) is interrupted:
                signal.signal(signal.SIGINT, cancel)
            signal.set_wakeup_fd(former)
            loop.remove_reader(reader)


async def in_parallel(items: Iterable[Item], work: Callable[[Item], Awaitable[None]], workers: int) -> None:
    """Do some work for each item, so many at a time. If one raises, or this is cancelled, cancel those under way."""
    source = iter(items)

    async def worker() -> None:
        for item in source:
            await work(item)

    tasks = [asyncio.create_task(worker()) for _ in range(workers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    with contextlib.closing(loop), ThreadPoolExecutor(1) as pool:
        try:
            # A thread that an interrupt meets while it starts is waited for by nobody: so it has nothing to do yet.
            pool.submit(int).result()
        except KeyboardInterrupt:
            work.close()
            raise
        task = loop.create_task(work)
        try:  # an interrupt may come while the work is handed over, too
            future = pool.submit(loop.run_until_complete, task)
            while not wait([future], _POLL).done:
                pass
            return future.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            pool.shutdown()
            raise


async def call_in_thread(call: Callable[..., T], *arguments: Any) -> T:
    """Call a function in a daemon thread.

    The thread keeps neither the loop nor the process alive, unlike one of :func:`asyncio.to_thread`.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, raised = None, None
        try:
            result = context.run(call, *arguments)
        except BaseException as error:
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            loop.call_soon_threadsafe(deliver, result, raised)

    threading.Thread(target=work, name="graphkit-call", daemon=True).start()
    return await future
