#!/usr/bin/env python3
"""How well clocks of hosts are brought together over a real network stack, where the truth is known.

    sudo bench/hosts.py --kizami target/release/kizami --workloads DIR [--seconds 60] [--mpi openmpi --mpi mpich]
                        [--delay-us THERE BACK] [--jitter-us 50]

Makes two network namespaces joined by a virtual cable, each with a host name of its own, and runs a program over
TCP between them. Both "hosts" really share one clock, so the true offset is zero all the time: what is found
instead is the error. Also tells what comparing clocks cost. Needs root; leaves nothing behind.

With --delay-us the cable is a line that holds every packet back for so long plus up to the jitter, each direction by
its own time. Where the ways there and back differ, the middle between question and answer is off by half the
difference, and nobody can tell from the readings: only the bound can hold the truth. MPICH 4.0.2 over UCX now and then
hangs in MPI_Finalize on such a line, without a tracer too.
"""
import argparse
import fcntl
import heapq
import json
import multiprocessing
import os
import random
import select
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from launch import run

HOSTS = {"kizami-a": "10.77.0.1", "kizami-b": "10.77.0.2"}

AGENT = """#!/bin/sh
# Stands in for ssh: runs a command in the namespace of a host.
while [ "${1#-}" != "$1" ]; do
    case $1 in -l | -p | -o) shift 2 ;; *) shift ;; esac
done
host=$1
shift
case $host in 10.77.0.1) name=kizami-a ;; *) name=kizami-b ;; esac
exec ip netns exec $name unshare --uts sh -c "hostname $name; $*"
"""


TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
LINKS = ["kizami-va", "kizami-vb"]


def make_hosts(delays, jitter):
    """Gives the process that carries packets, where there is one."""
    for name in HOSTS:
        run("ip", "netns", "add", name)
    if delays is None:
        run("ip", "link", "add", LINKS[0], "type", "veth", "peer", "name", LINKS[1])
    else:
        devices = [open_tun(link) for link in LINKS]
    for (name, address), link in zip(HOSTS.items(), LINKS):
        run("ip", "link", "set", link, "netns", name)
        for command in (f"ip addr add {address}/24 dev {link}", f"ip link set {link} up", "ip link set lo up"):
            run("ip", "netns", "exec", name, *command.split())
    if delays is None:
        return None
    line = multiprocessing.Process(target=carry, args=(devices, delays, jitter), daemon=True)
    line.start()
    return line


def open_tun(name):
    # The device stays ours when it moves to another namespace.
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


def carry(devices, delays, jitter):
    """Takes packets from either device and gives them to the other when their time has come."""
    waiting, last, number = [], [0.0, 0.0], 0
    while True:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for device in select.select(devices, [], [], timeout)[0]:
            side = devices.index(device)
            # In order, as on a cable: a packet that overtakes looks lost to TCP.
            due = max(last[side], time.monotonic() + delays[side] + random.uniform(0, jitter))
            last[side] = due
            number += 1
            heapq.heappush(waiting, (due, number, devices[1 - side], os.read(device, 65536)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, device, packet = heapq.heappop(waiting)
            try:
                os.write(device, packet)
            except OSError:
                # The other end is down, as a cable without a plug.
                pass


def remove_hosts():
    for name in HOSTS:
        # They are not there before the first run.
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def launcher(mpi, agent):
    addresses = list(HOSTS.values())
    if mpi == "mpich":
        return ["env", "UCX_TLS=tcp,self", "mpirun.mpich", "-launcher", "rsh", "-launcher-exec", agent, "-hosts",
                ",".join(addresses), "-n", "2"]
    network = "10.77.0.0/24"
    # Both hosts share the cores: bound, their ranks would sit on the same one.
    return ["mpirun.openmpi", "--bind-to", "none", "--mca", "plm_rsh_agent", agent, "--mca", "pml", "ob1",
            "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network, "--host",
            ",".join(f"{address}:1" for address in addresses), "-n", "2"]


def measure(options, mpi, folder):
    trace = folder / f"{mpi}.kz"
    agent = folder / "agent"
    steps = int(options.seconds * 850)
    record = [options.kizami, "record", "-o", trace, "--", *launcher(mpi, agent),
              options.workloads / mpi / "registration", steps, "1000"]
    line = " ".join(str(word) for word in record)
    run("ip", "netns", "exec", "kizami-a", "unshare", "--uts", "sh", "-c", f"hostname kizami-a; {line}")
    clocks = json.loads(run(options.kizami, "clocks", trace, "--json"))
    info = json.loads(run(options.kizami, "info", trace, "--json"))
    epochs = next(host["rounds"] for host in clocks["hosts"] if host["rounds"])
    errors = sorted(abs(epoch["offset_ns"]) for epoch in epochs)
    outside = sum(abs(epoch["offset_ns"]) > epoch["error_ns"] for epoch in epochs)
    rounds = info["disturbance"]["clock_rounds"]
    print(
        f"{mpi}: {len(errors)} rounds in {info['span_ns'] / 1e9:.0f} s; error median {statistics.median(errors):.0f} ns, "
        f"p99 {errors[int(0.99 * (len(errors) - 1))]} ns, most {errors[-1]} ns; "
        f"{outside} outside their bounds (median bound {statistics.median(e['error_ns'] for e in epochs):.0f} ns); "
        f"violations left {clocks['messages']['violations_left']}; "
        f"rounds cost {rounds['worst_ns'] / info['span_ns']:.4%} of the run on the worst rank"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=Path, required=True)
    parser.add_argument("--workloads", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--mpi", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--delay-us", type=float, nargs=2, metavar=("THERE", "BACK"))
    parser.add_argument("--jitter-us", type=float, default=50)
    options = parser.parse_args()
    options.kizami, options.workloads = options.kizami.resolve(), options.workloads.resolve()
    folder = Path(tempfile.mkdtemp())
    (folder / "agent").write_text(AGENT)
    (folder / "agent").chmod(0o755)
    remove_hosts()
    delays = options.delay_us and [delay / 1e6 for delay in options.delay_us]
    line = make_hosts(delays, options.jitter_us / 1e6)
    try:
        for mpi in options.mpi or ["openmpi", "mpich"]:
            measure(options, mpi, folder)
    finally:
        if line:
            line.terminate()
        remove_hosts()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
