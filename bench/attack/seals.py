"""Sealing: several at once, of a live run, killed."""
import os
import shutil
import time

from recording_bench import (
    Counts,
    Failed,
    LONG,
    Process,
    alive,
    bury,
    check_counts,
    check_files,
    check_refusal,
    descendants,
    kill,
    run,
    short,
)


def seals(bench, draw):
    """Several seals at once, seals of a live run, and seals that are killed."""
    unsealed = {}
    for mpi in bench.mpis:
        # With two MPIs, as many as the book tells.
        for number in [2, 3]:
            for case in range(bench.times(100, 10) if number == 2 else bench.times(50, 5)):
                yield f"{number} seals at once", f"{mpi} {case}", \
                    lambda folder, m=mpi, n=number, r=draw(): sealed_at_once(bench, folder, unsealed, m, n, r)
        for case in range(bench.times(25, 4)):
            yield "seals of a live run", f"{mpi} {case}", lambda folder, m=mpi, r=draw(): sealed_alive(bench, folder, m, r)
        for case in range(bench.times(100, 10)):
            yield "seals that are killed", f"{mpi} {case}", \
                lambda folder, m=mpi, r=draw(): sealed_and_killed(bench, folder, unsealed, m, r)


def summary(bench, folder):
    """What of a trace must be the same however it was sealed."""
    info = bench.info(folder)
    return {key: info[key] for key in ("totals", "health", "functions", "rank_summaries", "ranks", "threads")}


def unsealed_copy(bench, folder, unsealed, mpi):
    """A recording that nobody has sealed yet, what comes of it, and the seconds that takes. It is made once."""
    if mpi not in unsealed:
        origin = bench.case_folder()
        counts = Counts(origin)
        # Enough calls that a seal can be met at work.
        line = bench.launch(mpi, bench.build(mpi, "calls"), 5000 if bench.gate else bench.times(50000, 20000))
        made = run(bench.record(line, "--no-seal", output="raw.kz"), origin, counts.environment)
        if made.code != 0:
            raise Failed(f"record --no-seal: exit code {made.code}: {short(made.told)}")
        shutil.copytree(origin / "raw.kz", origin / "run.kz")
        started = time.monotonic()
        sealed = bench.seal(origin)
        seconds = time.monotonic() - started
        if sealed.code != 0:
            raise Failed(f"seal: {short(sealed.told)}")
        check_counts(bench.info(origin), counts.calls())
        unsealed[mpi] = origin / "raw.kz", summary(bench, origin), seconds
    origin, expected, seconds = unsealed[mpi]
    shutil.copytree(origin, folder / "run.kz")
    return expected, seconds


def check_sealed(bench, folder, expected):
    if summary(bench, folder) != expected:
        raise Failed(f"the trace differs from one sealed in peace: {summary(bench, folder)['totals']}")
    check_files(folder)
    left = sorted(path.name for path in (folder / "run.kz").iterdir() if path.name not in
                  ("run.json", "events", "defs", "clocks.parquet", "stops.parquet"))
    if left:
        raise Failed(f"left behind: {left}")


def sealed_at_once(bench, folder, unsealed, mpi, number, rng):
    expected, seconds = unsealed_copy(bench, folder, unsealed, mpi)
    running = []
    for _ in range(number):
        running.append(Process([bench.kizami, "seal", "run.kz"], folder))
        # Half of them as close as can be, half of them while the other works.
        time.sleep(rng.choice([0, rng.random() * seconds]))
    for one in running:
        one.wait()
        if one.code != 0:
            check_refusal(one)
    if all(one.code != 0 for one in running):
        raise Failed(f"none has sealed: {short(running[0].told)}")
    check_sealed(bench, folder, expected)


def sealed_and_killed(bench, folder, unsealed, mpi, rng):
    expected, seconds = unsealed_copy(bench, folder, unsealed, mpi)
    for _ in range(rng.choice([1, 1, 2])):
        one = Process([bench.kizami, "seal", "run.kz"], folder)
        time.sleep(rng.random() * seconds * 1.1)
        kill(one.child.pid)
        one.wait()
    again = bench.seal(folder)
    # Who was killed after its last step has done everything: there is nothing left to seal.
    if again.code != 0 and not (folder / "run.kz/run.json").exists():
        raise Failed(f"cannot be sealed again: {short(again.told)}")
    check_sealed(bench, folder, expected)


def wait_for_ranks(process, counts, seconds=20):
    """Waits until all ranks have made a call; says whether they have."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.child.poll() is None:
        if all(counts.calls()):
            return True
        time.sleep(0.005)
    return False


def wait_until_gone(processes, seconds):
    """Waits until processes have ended; says whether they have."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        bury()
        if not any(alive(process) for process in processes):
            return True
        time.sleep(0.01)
    return False


def sealed_alive(bench, folder, mpi, rng):
    counts = Counts(folder)
    without_recorder = rng.random() < 0.5
    # Where the recorder is gone, a seal waits some seconds for the last ranks before it refuses: some runs outlast that.
    seconds = rng.choice([1.5, 1.5, 8]) if without_recorder else 1.5
    line = bench.launch(mpi, bench.build(mpi, "calls"), 0, seconds, 100)
    recorder = Process(bench.record(line), folder, counts.environment)
    if not wait_for_ranks(recorder, counts):
        recorder.wait(1)
        raise Failed(f"no rank has begun: {short(recorder.told)}")
    if without_recorder:
        # The ranks go on without it; their recording still is not over.
        kill(recorder.child.pid)
        recorder.wait()
    time.sleep(rng.random() * 0.3)
    for _ in range(rng.choice([1, 2])):
        tried = bench.seal(folder)
        if tried.code == 0 and without_recorder and any(counts.field(2)):
            break  # it has waited for the end
        check_refusal(tried)
        if "record" not in tried.told:
            raise Failed(f"does not say why: {short(tried.told)}")
    if without_recorder:
        if not wait_until_gone(descendants(os.getpid()), LONG):
            raise Failed("ranks hang without their recorder")
        sealed = tried if tried.code == 0 else bench.seal(folder)
        if sealed.code != 0:
            raise Failed(f"cannot be sealed when it is over: {short(sealed.told)}")
    elif recorder.wait() != 0:
        raise Failed(f"exit code {recorder.code}: {short(recorder.told)}")
    check_counts(bench.info(folder), counts.calls())
    check_files(folder)
