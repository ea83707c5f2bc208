#!/usr/bin/env python3
"""What `kizami report` says first of applications that somebody else wrote.

    bench/applications.py --kizami target/release/kizami [--only NAME] [--runs 3] [--busy N] [--markdown OUT]

Runs programs of Debian (apt-get install lammps gromacs quantum-espresso quantum-espresso-data nwchem-openmpi cp2k openfoam
openfoam-examples python3-petsc4py python3-dolfinx python3-h5py-mpi python3-meep-openmpi python3-matplotlib) on two
ranks of Open MPI, with inputs that are written here. Those that are not installed are left out.

Some have a second input, in which one thing is different: the work is divided in another way, or a rank does less. If a report
names a cause, that shows whether it is so: the gain is measured by runs without Kizami, in turns. With --busy N, N processes
use the cores meanwhile.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PYTHON = "/usr/bin/python3"
RANKS = 2
PATIENCE_S = 300
MPIRUN = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS)]

LAMMPS = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 12 0 12
create_box 1 box
region where block 0 {length} 0 12 0 12
create_atoms 1 region where
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
{balance}
fix 1 all nve
thermo 100
run 300
"""

PETSC = """
import sys
import petsc4py
petsc4py.init(sys.argv[:1])
from petsc4py import PETSc
comm = PETSc.COMM_WORLD
n = 400
all_rows = n * n
first = int(all_rows * float(sys.argv[1]))
own = first if comm.rank == 0 else all_rows - first
matrix = PETSc.Mat().createAIJ(((own, all_rows), (own, all_rows)), nnz=5, comm=comm)
begin, end = matrix.getOwnershipRange()
for row in range(begin, end):
    i, j = divmod(row, n)
    matrix[row, row] = 4.0
    for other, there in ((row - n, i > 0), (row + n, i < n - 1), (row - 1, j > 0), (row + 1, j < n - 1)):
        if there:
            matrix[row, other] = -1.0
matrix.assemble()
x, b = matrix.createVecs()
b.set(1.0)
solver = PETSc.KSP().create(comm)
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("none")
solver.setTolerances(rtol=1e-12, max_it=400)
solver.solve(b, x)
"""

NUMPY = """
import sys
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
n = 2000
rows = int(n * float(sys.argv[1])) if comm.rank == 0 else n - int(n * float(sys.argv[1]))
matrix = np.random.default_rng(comm.rank).random((rows, n))
counts = comm.allgather(rows)
x = np.ones(n)

def multiply(x):
    return matrix @ x

def iterate(x):
    y = np.empty(n)
    comm.Allgatherv(multiply(x), [y, counts, None, MPI.DOUBLE])
    return y / np.linalg.norm(y)

for _ in range(300):
    x = iterate(x)
"""

H5PY = """
import sys
import h5py
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
own = np.full(400_000, comm.rank, dtype=float)

def step():
    own[:] = np.sqrt(own + 1.0)
    comm.allreduce(own[0])

def write_alone(number):
    everything = comm.gather(own, root=0)
    if comm.rank == 0:
        with h5py.File(f"alone{number}.h5", "w") as file:
            file["field"] = np.concatenate(everything)
    comm.barrier()

def write_together(number):
    with h5py.File(f"together{number}.h5", "w", driver="mpio", comm=comm) as file:
        field = file.create_dataset("field", (comm.size * own.size,), dtype="f8")
        field[comm.rank * own.size:(comm.rank + 1) * own.size] = own

for number in range(40):
    step()
    (write_alone if sys.argv[1] == "alone" else write_together)(number)
"""

DOLFINX = """
import sys
import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py.PETSc import ScalarType
comm = MPI.COMM_WORLD
domain = mesh.create_unit_square(comm, 96, 96)
space = fem.FunctionSpace(domain, ("Lagrange", 1))
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
domain.topology.create_connectivity(1, 2)
border = mesh.exterior_facet_indices(domain.topology)
fixed = fem.dirichletbc(ScalarType(0), fem.locate_dofs_topological(space, 1, border), space)
f = fem.Constant(domain, ScalarType(1))
problem = fem.petsc.LinearProblem(
    ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, f * v * ufl.dx, bcs=[fixed],
    petsc_options={"ksp_type": "cg", "pc_type": "jacobi"})

def analyse(values):
    return np.linalg.svd(np.resize(values, (160, 160)), compute_uv=False)[0]

for step in range(20):
    f.value = float(step)
    solution = problem.solve()
    if comm.rank == 0 and sys.argv[1] == "analysed":
        for _ in range(10):
            analyse(solution.x.array)
    comm.barrier()
"""

MEEP = """
import meep as mp
cell = mp.Vector3(20, 10, 0)
simulation = mp.Simulation(
    cell_size=cell, resolution=16, boundary_layers=[mp.PML(1.0)],
    geometry=[mp.Block(mp.Vector3(mp.inf, 1, mp.inf), material=mp.Medium(epsilon=12))],
    sources=[mp.Source(mp.ContinuousSource(frequency=0.15), component=mp.Ez, center=mp.Vector3(-7, 0))])
simulation.run(until=100)
"""


ESPRESSO = """
&control
  calculation='scf', prefix='si', pseudo_dir='/usr/share/espresso/pseudo', outdir='./out', verbosity='low'
/
&system
  ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=24.0
/
&electrons
  conv_thr=1.0d-10
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS tpiba
{points}
"""

NWCHEM = """
start water
geometry
  O 0.0 0.0 0.0
  H 0.0 1.43 1.1
  H 0.0 -1.43 1.1
  O 5.0 0.0 0.0
  H 5.0 1.43 1.1
  H 5.0 -1.43 1.1
end
basis
  * library 6-31g*
end
task scf gradient
"""

CP2K = """
&GLOBAL
  PROJECT water
  RUN_TYPE ENERGY
  PRINT_LEVEL LOW
&END
&FORCE_EVAL
  METHOD QS
  &DFT
    BASIS_SET_FILE_NAME /usr/share/cp2k/GTH_BASIS_SETS
    POTENTIAL_FILE_NAME /usr/share/cp2k/GTH_POTENTIALS
    &MGRID
      CUTOFF 280
    &END
    &SCF
      SCF_GUESS ATOMIC
      MAX_SCF 12
      IGNORE_CONVERGENCE_FAILURE
    &END
    &XC
      &XC_FUNCTIONAL PADE
      &END
    &END
  &END
  &SUBSYS
    &CELL
      ABC 6.0 6.0 6.0
    &END
    &COORD
      O 0.0 0.0 0.0
      H 0.0 0.76 0.59
      H 0.0 -0.76 0.59
      O 3.0 0.0 0.0
      H 3.0 0.76 0.59
      H 3.0 -0.76 0.59
    &END
    &KIND H
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END
    &KIND O
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q6
    &END
  &END
&END
"""

GROMACS = """
integrator = md
nsteps = 400
dt = 0.002
nstlist = 20
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = v-rescale
tc-grps = system
tau-t = 0.1
ref-t = 300
"""

POINTS = ["0.125 0.125 0.125 1.0", "0.125 0.125 0.375 1.0", "0.375 0.375 0.375 1.0", "0.125 0.375 0.625 1.0"]


def points(number):
    return "\n".join([str(number), *POINTS[:number]])


def cavity(weights):
    """The cavity of OpenFOAM's examples, finer, divided at one place along x."""
    divide = ("FoamFile {{ version 2.0; format ascii; class dictionary; object decomposeParDict; }}\n"
              "numberOfSubdomains 2; method {method}; {coefficients}\n")
    coefficients = "coeffs {{ n (2 1 1); }}".format() if weights is None else f"coeffs {{ processorWeights ({weights}); }}"
    text = divide.format(method="simple" if weights is None else "scotch", coefficients=coefficients)
    example = "/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity"
    prepare = [
        f"cp -r {example}/. .", "if [ -e system/blockMeshDict.gz ]; then gunzip -r .; fi", "gunzip -rqf . || true",
        "sed -i 's/(20 20 1)/(160 160 1)/' system/blockMeshDict",
        "sed -i 's/^deltaT .*/deltaT 0.0005;/; s/^endTime .*/endTime 0.05;/; s/^writeInterval .*/writeInterval 1000;/' system/controlDict",
        "cp divide system/decomposeParDict", "blockMesh > log.mesh", "decomposePar > log.divide"]
    return {"divide": text}, prepare


@dataclass
class Application:
    """A program with its input, and how it is started after the launcher."""
    name: str
    needs: str
    command: list
    files: dict = field(default_factory=dict)
    prepare: list = field(default_factory=list)
    # The same with one thing changed, and what that is.
    changed: "Application | None" = None
    change: str = ""
    options: list = field(default_factory=list)


def python(name, needs, script, arguments, changed, change, options=()):
    def application(words):
        return Application(name, needs, [PYTHON, f"{name}.py", *words], {f"{name}.py": script}, options=list(options))
    first = application(arguments)
    if changed is not None:
        first.changed, first.change = application(changed), change
    return first


def lammps(length, balance):
    return Application("lammps", "lmp", ["lmp", "-in", "in.lammps", "-log", "none"],
                       {"in.lammps": LAMMPS.format(length=length, balance=balance)})


def openfoam(weights):
    files, prepare = cavity(weights)
    return Application("openfoam", "icoFoam", ["icoFoam", "-parallel"], files, prepare)


def espresso(number):
    command = ["pw.x", "-nk", "2", "-in", "si.in"]
    return Application("quantum-espresso", "pw.x", command, {"si.in": ESPRESSO.format(points=points(number))})


def gromacs():
    prepare = [
        "gmx solvate -cs spc216 -box 4 4 4 -o water.gro > log 2>&1",
        "n=$(grep -c OW water.gro); printf '#include \"oplsaa.ff/forcefield.itp\"\\n#include \"oplsaa.ff/spc.itp\"\\n"
        "[ system ]\\nwater\\n[ molecules ]\\nSOL %d\\n' $n > topol.top",
        "gmx grompp -f md.mdp -c water.gro -p topol.top -o md.tpr -maxwarn 5 >> log 2>&1"]
    return Application("gromacs", "gmx_mpi", ["gmx_mpi", "mdrun", "-s", "md.tpr", "-ntomp", "1", "-nb", "cpu"],
                       {"md.mdp": GROMACS}, prepare)


def with_change(application, changed, change):
    application.changed, application.change = changed, change
    return application


def applications():
    none = ""
    return [
        lammps(20, none),
        with_change(Application(**{**lammps(14, none).__dict__, "name": "lammps, unevenly filled"}),
                    lammps(14, "balance 1.0 shift x 20 1.01"), "bricks of equal numbers of atoms"),
        gromacs(),
        with_change(espresso(3), espresso(4), "4 k-points for 2 pools instead of 3; time for each"),
        Application("nwchem", "nwchem.openmpi", ["nwchem.openmpi", "water.nw"], {"water.nw": NWCHEM}),
        Application("cp2k", "cp2k.popt", ["cp2k.popt", "-i", "water.inp"], {"water.inp": CP2K}),
        with_change(openfoam("3 1"), openfoam(None), "halves of equal size"),
        python("petsc4py", "lmp", PETSC, ["0.7"], ["0.5"], "rows divided evenly"),
        python("mpi4py", "lmp", NUMPY, ["0.7"], ["0.5"], "rows divided evenly"),
        python("h5py", "lmp", H5PY, ["alone"], ["together"], "both ranks write", ["--io"]),
        python("dolfinx", "lmp", DOLFINX, ["analysed"], ["plain"], "no analysis on rank 0"),
        python("meep", "lmp", MEEP, [], None, ""),
    ]


def environment():
    known = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "WM_PROJECT_DIR": "/usr/share/openfoam"}
    return {**os.environ, **known}


def shell(command, folder):
    subprocess.run(["bash", "-c", command], cwd=folder, env=environment(), check=True, timeout=PATIENCE_S)


def prepared(application, folder):
    folder.mkdir()
    for name, text in application.files.items():
        (folder / name).write_text(text)
    for command in application.prepare:
        shell(command, folder)
    return folder


def run(command, folder):
    """Seconds it took."""
    begun = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[-4:])}: {done.returncode}: {(done.stdout + done.stderr)[-600:]}")
    return time.monotonic() - begun


def report(options, application, folder, number):
    trace = f"run{number}.kz"
    run([options.kizami, "record", "-q", "-o", trace, *application.options, "--", *MPIRUN, *application.command], folder)
    done = subprocess.run([options.kizami, "report", trace, "--json"], cwd=folder, capture_output=True, text=True, check=True)
    text = subprocess.run([options.kizami, "report", trace], cwd=folder, capture_output=True, text=True, check=True).stdout
    shutil.rmtree(folder / trace)
    return json.loads(done.stdout), text


def first_words(text):
    """The verdict: all between efficiency and the first table."""
    lines = text.splitlines()
    verdict = []
    for line in lines[1:]:
        if not line.strip():
            break
        verdict.append(line.strip())
    return " ".join(verdict)


def says(told):
    finding = (told.get("findings") or [None])[0]
    if finding is None:
        return "none certain", None
    gain = finding.get("balanced") if finding.get("headline") == "balanced" else finding.get("gain")
    gain = gain or finding.get("gain") or finding.get("balanced")
    return finding["sentence"], gain and (100 * gain["share"], 100 * gain["share_error"])


def judge(options, application, scratch):
    folder = prepared(application, scratch / re.sub(r"\W+", "_", application.name))
    rows = []
    for number in range(options.runs):
        told, text = report(options, application, folder, number)
        sentence, gain = says(told)
        cores = (told.get("shared_cores") or {}).get("share")
        rows.append({"sentence": sentence, "gain": gain, "cores": cores, "text": first_words(text), "run_ns": told.get("run_ns"),
                     "efficiency": told["efficiency"]["parallel"]})
    real = None
    if application.changed:
        other = prepared(application.changed, scratch / (folder.name + "_changed"))
        times = [[], []]
        for _ in range(options.runs):
            times[0].append(run([*MPIRUN, *application.command], folder))
            times[1].append(run([*MPIRUN, *application.changed.command], other))
        before, after = map(statistics.median, times)
        real = 100 * (before - after) / before
    return {"name": application.name, "runs": rows, "change": application.change, "real": real}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--only", action="append")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--busy", type=int, default=0, help="processes that use the cores meanwhile")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    loads = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    results = []
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for application in applications():
                if options.only and not any(word in application.name for word in options.only):
                    continue
                if not shutil.which(application.needs):
                    print(f"{application.name}: not installed", file=sys.stderr)
                    continue
                try:
                    result = judge(options, application, Path(scratch))
                except (RuntimeError, subprocess.SubprocessError) as trouble:
                    print(f"{application.name}: {trouble}", file=sys.stderr)
                    continue
                results.append(result)
                print(f"== {application.name}" + (f"; {application.change}: {result['real']:.1f} %" if result["change"] else ""))
                for row in result["runs"]:
                    print(f"   {row['run_ns'] / 1e9:.2f} s  {row['text']}", flush=True)
    finally:
        for load in loads:
            load.kill()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
