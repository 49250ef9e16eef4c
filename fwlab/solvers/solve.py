"""The driver of `solve`: arguments, the judge, and the result; `_loop` runs the iterations.

At each checkpoint primal and dual are evaluated at the iterate. Whatever a method tracked, the
result is recomputed from A.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_floats, as_generator, as_integer
from fwlab.problem import Certificate, Problem
from fwlab.result import Result, Status
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.loop import Limits, checked_limits, run_loop
from fwlab.solvers.method import Method, State
from fwlab.solvers.recorder import Callback, Progress, Recorder, Reporter
from fwlab.solvers.registry import build, require_taken
from fwlab.solvers.threads import blas_threads
from fwlab.solvers.warm_up import warm_up

MAX_MEMORY = 2**30


def solve(
    problem: Problem,
    method: str = "ascent",
    tol: float = 1e-5,
    relative: bool = False,
    max_iter: int = 1000,
    time_limit: float | None = None,
    A0: Any = None,
    rng: int | np.random.Generator = 0,
    callback: Callback | None = None,
    check_every: int = 1,
    verbose: int = 0,
    n_threads: int = 1,
    max_memory: int = MAX_MEMORY,
    **method_options: Any,
) -> Result:
    """Maximise the dual of `problem` until the certified gap is at most tol.

    method: a name of fwlab.methods(); method_options are its own. relative: tol is a fraction of
    max(|primal|, |dual|). tol = 0 runs to max_iter iterations. time_limit: seconds of the whole
    call. A0 (n, m): a feasible start, zero by default. callback(progress) is called at every
    checkpoint, each check_every iterations, and may raise StopIteration. verbose: 1 prints a line
    a second to stderr, 2 one a checkpoint. n_threads: threads of BLAS, which makes Gram
    matrices and the products of dense rows below 128 features; all else is serial. They change
    rounding and time alone. max_memory: bytes that a block method may take for the Gram matrix of a
    dense X with n <= d, once it pays (the message then says so); 0 for never. Ctrl-C ends the run
    after the current iteration with a valid result; a second one raises KeyboardInterrupt.

    Raises ValueError or TypeError before any work, also where a method does not take the problem.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a fwlab.Problem; got {problem!r}.")
    limits = checked_limits(tol, relative, max_iter, time_limit, check_every)
    verbose = as_integer("verbose", verbose, low=0, high=2)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {callback!r}.")
    generator = as_generator(rng)
    n_threads = as_integer("n_threads", n_threads, low=1)
    max_memory = as_integer("max_memory", max_memory, low=0)
    solver = build(method, method_options)
    require_taken(method, problem)
    A = _start(problem, A0)
    with blas_threads(n_threads):
        warm_up(problem, method)
        state = State(problem, A, generator, max_memory=max_memory)
        reporter = Reporter(method, callback, verbose, Progress)
        return _run(solver, method, state, limits, reporter)


def _run(solver: Method, name: str, state: State, limits: Limits, reporter: Reporter) -> Result:
    began = time.perf_counter()
    recorder = Recorder(keeps_augmented_gap=bool(state.problem.smoothing))

    def judge() -> Certificate:
        certificate = _judge(state)
        if limits.met(certificate) or limits.at_floor(certificate):
            # the drift of what the method tracked must not decide
            certificate = _certify(state)
        state.judged = state.n_steps, certificate
        return certificate

    def note(certificate: Certificate, iteration: int, seconds: float) -> Status | None:
        recorder.record(state, certificate, iteration, seconds)
        return reporter.report(state, certificate, iteration, seconds)

    with deferred_interrupt() as interrupt:
        end = run_loop(solver, state, judge, note, limits, began, interrupt)
        certificate = _certify(state)
        recorder.replace_last(state, certificate, end.iteration, end.seconds)
        return _result(name, state, certificate, limits.met(certificate) or end.status, recorder)


def _result(
    name: str, state: State, certificate: Certificate, status: Status, recorder: Recorder
) -> Result:
    problem, trace, notes = state.problem, recorder.trace(), state.problem.notes
    precomputed = problem.kernel == "precomputed"
    if state.gram_problem is not None:
        notes = ("Passes went over to the Gram matrix when it paid.", *notes)
    if state.own_problem is not None:
        loss, gap = state.own_problem.loss, certificate.own_gap
        notes = (f"The dual that was maximised is that of {loss!r}; its gap is {gap:.3g}.", *notes)
    return Result(
        W=None if precomputed else state.weights(),
        A=state.A,
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.gap,
        infeasibility=problem.infeasibility(state.A),
        success=status is Status.CONVERGED,
        status=status,
        message=" ".join((status.value, *notes)),
        nit=int(trace.iteration[-1]),
        seconds=float(trace.seconds[-1]),
        method=name,
        trace=trace,
        lam_n=problem.lam_n,
        coefficients=state.expansion() if precomputed else None,
    )


def _start(problem: Problem, A0: Any) -> Floats:
    shape = (problem.n_samples, problem.n_classes)
    if A0 is None:
        return np.zeros(shape)
    A = as_floats("A0", A0, ndims=(2,)).copy()
    if A.shape != shape:
        raise ValueError(f"A0 must be (n, m) = {shape}; got shape {A.shape}.")
    if not problem.is_feasible(A):
        worst = problem.infeasibility(A)
        raise ValueError(f"A0 must be feasible; an entry is {worst:.3g} away from the domain.")
    return A


def _judge(state: State) -> Certificate:
    A, link, own = state.A, state.link, state.own_problem
    scores = state.scores if state.keeps_scores else state.problem.features.scores(link)
    certificate = state.problem.certificate(A, link, scores, state.coefficients)
    if state.keeps_best:
        state.offer(link, certificate.primal)
        gap = state.best_primal - certificate.dual
        certificate = replace(certificate, primal=state.best_primal, gap=gap)
    if own is None:
        return certificate
    own_gap = own.certificate(A, link, scores).gap if own.is_feasible(A) else np.inf
    return replace(certificate, own_gap=own_gap)


def _certify(state: State) -> Certificate:
    """The certificate of A alone: nothing tracked enters, and outside the domain D is -inf."""
    state.use_given()
    state.round_to_domain()
    state.refresh()
    certificate = _judge(state)
    if state.problem.is_feasible(state.A):
        return certificate
    return replace(certificate, dual=-np.inf, gap=np.inf, augmented_gap=np.inf)
