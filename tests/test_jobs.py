"""Work in the background: watched, paused, stepped, stopped; a fault ends a job, never the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from memory_core.errors import InputError
from memory_core.ingestion import ingest
from memory_core.jobs import Job, Worker
from tests.memories import fake_memory
from tests.memory.test_memory import TALK


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("test")
    yield worker
    worker.close()


def until(met: Callable[[], bool]) -> None:
    """Wait for the worker, a few seconds at most."""
    waiting = threading.Event()
    for _ in range(2000):
        if met():
            return
        waiting.wait(0.005)
    raise AssertionError("it never came to that")


def counting(job: Job) -> str:
    for number in range(1, job.total + 1):
        job.advance(f"step {number}")
    return "counted"


def test_a_job_tells_its_progress_and_its_result(worker: Worker) -> None:
    job = worker.submit(Job("count", counting, total=5))
    until(lambda: job.finished)
    assert (job.state, job.done, job.message, job.result, job.error) == ("done", 5, "step 5", "counted", "")
    assert worker.current is None


def test_the_estimate_is_the_mean_of_the_steps_so_far_and_the_pause_between_them() -> None:
    clock, seen = Clock(), list[float | None]()

    def work(job: Job) -> None:
        for seconds in (1.0, 3.0, 2.0, 2.0):
            seen.append(job.seconds_left)
            clock.now += seconds
            job.advance()

    job = Job("count", work, total=4, clock=clock)
    job.run()
    assert seen == [None, 3.0, 4.0, 2.0]
    assert job.seconds_left is None
    shown = Job("watch", work, total=4, delay=0.5, done=2, _worked=4.0)
    assert shown.seconds_left == (2.0 + 0.5) * 2


def test_time_spent_paused_is_no_work() -> None:
    clock = Clock()

    def work(job: Job) -> None:
        clock.now += 2
        job.pause()
        threading.Timer(0.05, resume, [job]).start()
        job.advance()
        assert job.seconds_left == 2.0

    def resume(job: Job) -> None:
        clock.now += 1000
        job.resume()

    job = Job("count", work, total=2, clock=clock)
    job.run()
    assert (job.state, job.error) == ("done", "")


def test_pause_stops_after_the_step_and_step_does_one(worker: Worker) -> None:
    job = Job("count", counting, total=5)
    job.pause()
    worker.submit(job)
    for number in range(3):
        until(lambda number=number: job.state == "paused" and job.done == number)  # type: ignore[misc]
        assert not job.finished
        job.step()
    until(lambda: job.state == "paused" and job.done == 3)
    job.resume()
    until(lambda: job.finished)
    assert (job.state, job.done) == ("done", 5)


def test_cancel_wakes_a_paused_and_a_delayed_job(worker: Worker) -> None:
    paused = Job("paused", counting, total=5)
    paused.pause()
    slow = Job("slow", counting, total=5, delay=3600)
    worker.submit(paused)
    worker.submit(slow)
    paused.cancel()
    until(lambda: paused.finished)
    assert paused.state == "cancelled"
    assert "stopped after 0 of 5; what was done is kept" in paused.error
    until(lambda: slow.done == 1)
    slow.cancel()
    until(lambda: slow.finished)
    assert (slow.state, slow.done) == ("cancelled", 1)


@pytest.mark.parametrize(
    ("fault", "shown"),
    [(InputError("The file is odd: mend it."), "The file is odd: mend it."), (ZeroDivisionError("by 0"), "by 0")],
)
def test_a_failed_job_shows_why_and_the_worker_goes_on(worker: Worker, fault: Exception, shown: str) -> None:
    def work(job: Job) -> None:
        raise fault

    failed = worker.submit(Job("bad", work))
    after = worker.submit(Job("good", counting, total=1))
    until(lambda: after.finished)
    assert (failed.state, after.state) == ("failed", "done")
    assert shown in failed.error
    assert "\n" not in failed.error


def test_one_job_at_a_time_in_the_order_they_came(worker: Worker) -> None:
    running, most, order = list[str](), list[int](), list[str]()

    def work(job: Job) -> None:
        running.append(job.name)
        most.append(len(running))
        counting(job)
        order.append(job.name)
        running.remove(job.name)

    first = Job("a", work, total=20)
    first.pause()
    jobs = [worker.submit(job) for job in (first, *(Job(name, work, total=20) for name in "bcd"))]
    assert worker.current is first
    assert [job.state for job in jobs[1:]] == ["waiting"] * 3
    jobs[1].pause()
    jobs[1].resume()
    assert jobs[1].state == "waiting"
    first.resume()
    until(lambda: all(job.finished for job in jobs))
    assert order == list("abcd")
    assert max(most) == 1


def test_closing_stops_what_runs_and_what_waits() -> None:
    worker = Worker("closing")
    jobs = [worker.submit(Job(name, counting, total=5, delay=3600)) for name in "ab"]
    until(lambda: jobs[0].done == 1)
    worker.close()
    assert [job.state for job in jobs] == ["cancelled", "cancelled"]


def test_without_jobs_there_is_no_thread(worker: Worker) -> None:
    def threads() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name == "worker test"]

    assert not threads()
    for _ in range(2):
        job = worker.submit(Job("count", counting, total=1, delay=0.05))
        assert threads() == ["worker test"]
        until(lambda job=job: job.finished)  # type: ignore[misc]
        until(lambda: not threads())


def test_a_finished_job_stays_as_it_ended() -> None:
    job = Job("count", counting, total=1)
    job.run()
    job.pause()
    job.resume()
    job.step()
    job.cancel()
    assert (job.state, job.done) == ("done", 1)


def test_an_ingestion_is_paused_stopped_and_taken_up_again_without_loss(worker: Worker) -> None:
    with fake_memory() as memory:
        job = Job("replay", lambda job: ingest(memory, TALK, advance=job.advance), total=len(TALK))
        job.pause()
        worker.submit(job)
        job.step()
        until(lambda: job.done == 1 and job.state == "paused")
        assert memory.stats()["turns"] == 1
        job.cancel()
        until(lambda: job.finished)
        again = worker.submit(Job("replay", lambda job: ingest(memory, TALK, advance=job.advance), total=len(TALK)))
        until(lambda: again.finished)
        assert (again.state, memory.stats()["turns"]) == ("done", len(TALK))
