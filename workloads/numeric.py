#!/usr/bin/env python3
"""numeric: numerical packages, each with runtimes for threads of its own, in one process that uses MPI.

    numeric.py PACKAGE ...

Imports the packages in the order given and computes with each: numpy (linear algebra), scipy (sparse and
dense solvers), sklearn (loops of OpenMP in several modules), torch (its own runtime), intel (Intel's OpenMP
runtime, called directly). Ranks add up what they got. Prints a line for each package, equal in every run, and the
runtimes that were loaded.
"""
import ctypes
import importlib.util
import os
import sys

from mpi4py import MPI

ROUNDS = 3


def numpy(seed):
    import numpy as np
    matrix = np.random.default_rng(seed).standard_normal((300, 300))
    return [np.linalg.svd(matrix, compute_uv=False)[0], np.linalg.slogdet(matrix)[1], (matrix @ matrix).sum()]


def scipy(seed):
    import numpy as np
    from scipy import fft, linalg, sparse
    from scipy.sparse import linalg as solvers
    random = np.random.default_rng(seed)
    matrix = sparse.random(400, 400, density=0.02, random_state=seed) + 40 * sparse.eye(400)
    right = random.standard_normal(400)
    dense = random.standard_normal((200, 200))
    return [solvers.spsolve(matrix.tocsc(), right).sum(), linalg.eigvalsh(dense + dense.T)[-1],
            abs(fft.fft(random.standard_normal(1 << 14), workers=2)).sum()]


def sklearn(seed):
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.metrics import pairwise_distances_argmin
    random = np.random.default_rng(seed)
    points = random.standard_normal((2000, 8))
    labels = (points[:, 0] * points[:, 1] > 0).astype(int)
    boosted = HistGradientBoostingClassifier(max_iter=20, random_state=seed).fit(points, labels)
    trees = RandomForestClassifier(20, n_jobs=2, random_state=seed).fit(points, labels)
    clusters = KMeans(5, n_init=2, random_state=seed).fit(points)
    return [boosted.score(points, labels), trees.score(points, labels), clusters.inertia_,
            float(pairwise_distances_argmin(points, points[:50]).sum())]


def torch(seed):
    import torch
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(512, 64)
    for _ in range(20):
        optimizer.zero_grad()
        loss = (model(inputs) ** 2).mean()
        loss.backward()
        optimizer.step()
    return [loss.item(), torch.randn(300, 300).inverse().sum().item()]


def intel(seed):
    """A parallel region of Intel's runtime by its compiler's interface, with a lock and a reduction by hand."""
    runtime = ctypes.CDLL(os.path.join(sys.prefix, "lib", "libiomp5.so"))
    total = ctypes.c_long(seed)
    lock = ctypes.c_void_p()
    runtime.omp_init_lock(ctypes.byref(lock))

    def add(_global_thread, _thread):
        for _ in range(1000):
            runtime.omp_set_lock(ctypes.byref(lock))
            total.value += 1
            runtime.omp_unset_lock(ctypes.byref(lock))

    body = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(add)
    runtime.__kmpc_fork_call(None, 0, body)
    runtime.omp_destroy_lock(ctypes.byref(lock))
    return [total.value]


def loaded_runtimes():
    with open("/proc/self/maps") as maps:
        names = {line.rsplit("/", 1)[-1].strip() for line in maps if ".so" in line}
    return sorted(name for name in names if name.startswith(("libgomp", "libomp", "libiomp")))


def main():
    comm = MPI.COMM_WORLD
    for package in sys.argv[1:]:
        if package != "intel":
            assert importlib.util.find_spec(package), f"{package} is not installed"
        # Sums in threads differ in their last digits from run to run, with Kizami or without.
        for step in range(ROUNDS):
            got = [f"{value:.6e}" for value in globals()[package](1 + comm.rank + 10 * step)]
            everyone = comm.gather(got)
            if comm.rank == 0:
                print(package, step, *sum(everyone, []), flush=True)
    if comm.rank == 0:
        print("runtimes:", *loaded_runtimes(), flush=True)


if __name__ == "__main__":
    main()
