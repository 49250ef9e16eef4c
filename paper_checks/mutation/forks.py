"""Run tasks in forks of this process, each with limits on memory and time."""

import os
import resource
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

# the most memory that a fork may use beyond that of this process
MOST_MEMORY = 6 * 2**30
FIRST_SECONDS = 60.0

# a task receives a function with which it sets a time limit for its next part
Task = Callable[[Callable[[float], None]], Any]


class Stopped:
    """The result of a task that took too long or whose process died."""


@dataclass
class Running:
    """A task in its fork, and the time at which the fork is stopped."""

    name: str
    process: BaseProcess
    receiver: Connection
    deadline: float


def in_forks(tasks: Iterable[tuple[str, Task]], jobs: int) -> Iterator[tuple[str, Any]]:
    """Run tasks in at most `jobs` forks at a time.

    Yield the name and result of each as it finishes.
    """
    waiting, running = iter(tasks), list[Running]()
    try:
        while True:
            while len(running) < jobs and (task := next(waiting, None)) is not None:
                running.append(started(*task))
            if not running:
                return
            rest = min(fork.deadline for fork in running) - time.monotonic()
            wait([fork.receiver for fork in running], max(0.0, rest))
            for fork in list(running):
                finished, answer = answered(fork)
                if finished:
                    running.remove(fork)
                    end(fork)
                    yield fork.name, answer
    finally:
        for fork in running:
            end(fork)


def started(name: str, task: Task) -> Running:
    """Start a task in a fork."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(task, sender))
    process.start()
    sender.close()
    return Running(name, process, receiver, time.monotonic() + FIRST_SECONDS)


def work(task: Task, sender: Connection) -> None:
    """Run a task in the fork, without output, and send the result."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    limit_memory()
    try:
        answer = task(lambda seconds: sender.send(("seconds", seconds)))
    except Exception:
        sender.send(("error", traceback.format_exc()))
    else:
        sender.send(("answer", answer))


def limit_memory() -> None:
    """Limit this process to MOST_MEMORY more than it uses now, where the system reports its use."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_MEMORY, hard))


def answered(fork: Running) -> tuple[bool, Any]:
    """Return whether a task has ended, and its result. Raises RuntimeError if the task raised."""
    while fork.receiver.poll():
        try:
            kind, content = fork.receiver.recv()
        except EOFError:
            return True, Stopped()
        if kind == "error":
            raise RuntimeError(f"{fork.name}:\n{content}")
        if kind == "answer":
            return True, content
        fork.deadline = time.monotonic() + content
    return time.monotonic() >= fork.deadline, Stopped()


def end(fork: Running) -> None:
    """Stop a fork and wait for its end."""
    fork.process.kill()
    fork.process.join()
    fork.receiver.close()
