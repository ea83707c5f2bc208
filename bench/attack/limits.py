"""Few files, small files, little memory, full disks."""
import os
import shutil

from recording_bench import Counts, Failed, Skipped, check_counts, check_same, run, short

DISKS = ["4k", "8k", "12k", "16k", "24k", "32k", "48k", "64k", "96k", "128k", "256k", "512k", "1m", "2m", "4m"]


def limits(bench, draw):
    """Processes that may take little, from inside and outside, and disks that are full."""
    files = bench.times(range(24, 65), range(24, 65, 8))
    sizes = bench.times([0, 1, 4095, 4096, 65536, 100000, 1 << 20, 1 << 22, 1 << 24], [0, 4096, 65536, 1 << 20])
    memory = bench.times([0, 4096, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26], [0, 1 << 16, 1 << 20, 1 << 23])
    for mpi in bench.mpis:
        for way, values in [("files", files), ("size", sizes), ("memory", memory)]:
            for value in values:
                rng = draw()
                words = [way, value, rng.choice([4, 16, 30]), rng.choice([1000, 20000])]
                options = rng.choice([[], ["--memory", "2M"], ["--keep", "1%"]])
                yield f"a limit on {way} inside the program", \
                    f"{mpi}, record {' '.join(options)} -- limits {' '.join(map(str, words))}", \
                    lambda folder, m=mpi, o=options, w=words: limited(bench, folder, m, [], o, w)
        # MPI itself needs files of some MiB; so many calls fill larger ones.
        outside = bench.times(["-n 40", "-n 64", "-n 100", "-f 10000", "-f 12000", "-f 16000", "-f 20000", "-v 500000",
                               "-v 1000000", "-v 2000000"], ["-n 64", "-f 10000", "-v 1000000"])
        for words in outside:
            shell, calls = ["sh", "-c", f'ulimit {words}; exec "$@"', "sh"], 500000 if words.startswith("-f") else 20000
            yield "a limit on all from outside", f"{mpi}, ulimit {words}, record -- limits nothing 0 4 {calls}", \
                lambda folder, m=mpi, s=shell, c=calls: limited(bench, folder, m, s, [], ["nothing", 0, 4, c])
        for size in bench.times(DISKS, ["12k", "32k", "1m"]):
            for options in bench.times([[], ["--memory", "2M"], ["--keep", "1%"]], [[]]):
                yield "full disks", f"{mpi}, {size}, record {' '.join(options)}", \
                    lambda folder, m=mpi, s=size, o=options: full_disk(bench, folder, m, s, o)


def limited(bench, folder, mpi, before, options, words):
    line = bench.launch(mpi, bench.build(mpi, "limits"), *words)
    bare = run([*before, *line], folder)
    if bare.code != 0:
        raise Skipped(short(bare.told))
    for attempts_left in reversed(range(3)):
        counts = Counts(folder)
        recorded = run([*before, *bench.record(line, *options)], folder, counts.environment)
        if not (attempts_left and ended_by_ucx(recorded)):
            break
        shutil.rmtree(folder / "run.kz")
    check_same(bare, recorded)
    check_told(bench, folder, recorded, counts)


def ended_by_ucx(process):
    """Whether UCX, below MPICH, found no memory for itself: it then ends the program, or lets it hang, without Kizami as
    well now and then (2 of 100)."""
    return process.code != 0 and "log.c:" in process.told


def check_told(bench, folder, recorded, counts):
    """The trace has or counts every call. Where none could be made, that was said, and a later seal may do it."""
    if not (folder / "run.kz/run.json").exists():
        if "kizami:" not in recorded.told:
            raise Failed(f"no trace and no word of it: {short(recorded.told)}")
        if not (folder / "run.kz/raw").is_dir() or not any((folder / "run.kz/raw").iterdir()):
            return
        sealed = bench.seal(folder)
        if sealed.code != 0:
            raise Failed(f"cannot be sealed later: {short(sealed.told)}")
    check_counts(bench.info(folder), counts.calls())


def full_disk(bench, folder, mpi, size, options):
    disk = folder / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], folder).code != 0:
        raise Skipped("no file system can be mounted here")
    try:
        counts = Counts(folder)
        line = bench.launch(mpi, bench.build(mpi, "limits"), "nothing", 0, 4, 5000)
        bare = run(line, folder)
        recorded = run(bench.record(line, *options, output="disk/run.kz"), folder, counts.environment)
        if (disk / "run.kz").is_dir():
            # Elsewhere there is room to seal what is there.
            shutil.copytree(disk / "run.kz", folder / "run.kz")
    finally:
        run(["umount", "-l", disk], folder)
    check_same(bare, recorded)
    check_told(bench, folder, recorded, counts)
