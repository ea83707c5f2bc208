"""What all measurements share: the launchers of both MPIs, and running a command."""
import os
import subprocess
import sys


def launcher(mpi, ranks):
    return [f"mpirun.{mpi}"] + (["--oversubscribe"] if mpi == "openmpi" else []) + ["-n", str(ranks)]


def run(*command):
    """Runs a command to its end and gives what it printed; if it fails, so does the measurement."""
    words = [str(word) for word in command]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    result = subprocess.run(words, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout
