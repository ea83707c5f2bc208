"""Ranks, recorder and launcher killed at any moment."""
import time

from recording_bench import (
    Counts,
    Failed,
    Process,
    Skipped,
    alive,
    check_counts,
    check_files,
    descendants,
    end_all,
    kill,
    short,
    status_of,
)
from seals import wait_for_ranks, wait_until_gone

KILL_OPTIONS = [[], [], ["--keep", "0.1%"], ["--keep", "10K/s"], ["--memory", "2M"], ["--counters", "page-faults"],
                ["--spill", "together", "--memory", "2M"], ["--spill", "never", "--memory", "16M"]]


def kills(bench, draw):
    """SIGKILL at random moments, of those who take part in a recording."""
    for case in range(bench.times(1000, 20)):
        rng = draw()
        mpi, whom = bench.mpis[case % len(bench.mpis)], ["one", "all", "recorder", "launcher"][case // 2 % 4]
        options = rng.choice(KILL_OPTIONS)
        yield "SIGKILL of " + {"one": "one rank", "all": "all ranks"}.get(whom, f"the {whom}"), \
            f"{mpi}, record {' '.join(options)}", \
            lambda folder, m=mpi, w=whom, o=options, r=rng: killed(bench, folder, m, w, o, r)


def killed(bench, folder, mpi, whom, options, rng):
    counts = Counts(folder)
    program = bench.build(mpi, "calls")
    recorder = Process(bench.record(bench.launch(mpi, program, 0, 30), *options), folder, counts.environment)
    # Some die before all have come to life.
    if rng.random() < 0.9:
        wait_for_ranks(recorder, counts)
    time.sleep(rng.choice([rng.random() * 0.05, rng.random() * 0.6]))
    ranks = counts.processes()
    launchers = [one for one in descendants(recorder.child.pid) if (status_of(one) or (0, 0))[1] == recorder.child.pid]
    victims = {"one": ranks[:1] if rng.random() < 0.5 else ranks[-1:], "all": ranks, "recorder": [recorder.child.pid],
               "launcher": launchers}[whom]
    if not victims:
        # No rank has come to life yet.
        whom, victims = "launcher", launchers
    for victim in victims:
        kill(victim)
    if whom in ("recorder", "launcher"):
        # Ranks may live on for a while, and make calls.
        time.sleep(rng.random() * 0.3)
    if whom == "launcher":
        wait_until_gone(counts.processes(), 2)
    if whom in ("recorder", "launcher"):
        for rank in counts.processes():
            if alive(rank):
                kill(rank)
    if recorder.wait(30) is None:
        if any(name.startswith(("mpirun", "orte", "mpiexec", "prte")) for name in recorder.left):
            raise Skipped(f"the launcher hangs, and the recorder waits for it; alive are {recorder.left}")
        raise Failed(f"the recorder hangs after the kill; alive are {recorder.left}: {short(recorder.told)}")
    end_all()
    own = counts.calls()
    if not (folder / "run.kz/run.json").exists():
        if not any(own):
            return
        if whom in ("one", "all"):
            raise Failed(f"not sealed: {short(recorder.told)}")
        sealed = bench.seal(folder)
        if sealed.code != 0:
            raise Failed(f"cannot be sealed: {short(sealed.told)}")
    check_counts(bench.info(folder), own, under_way=1)
    check_files(folder)
