#!/usr/bin/env python3
"""ring: sends Python objects and plain buffers around a ring, with mpi4py.

    ring.py [ROUNDS=3] [BYTES=1024]

Needs two ranks. In each round rank 0 starts an object (lower-case send and
recv: a pickle) and then a bytearray (upper-case Send and Recv), and both come
back to it; every rank on the way adds one to a number in them.

Communication of each rank and round, with rank + 1 and rank - 1 modulo ranks:
    send: one MPI_Send of a pickle, tag 1    recv: one receive of it (mpi4py
    uses MPI_Mprobe and MPI_Mrecv by default, MPI_Probe and MPI_Recv or
    MPI_Recv alone by its settings)
    Send: one MPI_Send, tag 2, BYTES bytes   Recv: one MPI_Recv of it
    one MPI_Allreduce (8 bytes), one MPI_Barrier
"""

import sys

from mpi4py import MPI

OBJECT, BUFFER = 1, 2


def main():
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    length = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
    if size < 2 or length < 1:
        print("ring: needs 2 ranks and a byte", file=sys.stderr)
        return 2
    right, left = (rank + 1) % size, (rank - 1) % size
    wrong = False
    total = 0
    for number in range(rounds):
        if rank == 0:
            comm.send({"round": number, "hops": 1}, dest=right, tag=OBJECT)
            parcel = comm.recv(source=left, tag=OBJECT)
            wrong |= parcel != {"round": number, "hops": size}
        else:
            parcel = comm.recv(source=left, tag=OBJECT)
            parcel["hops"] += 1
            comm.send(parcel, dest=right, tag=OBJECT)

        buffer = bytearray(length)
        if rank == 0:
            buffer[0] = 1
            comm.Send([buffer, MPI.BYTE], dest=right, tag=BUFFER)
            comm.Recv([buffer, MPI.BYTE], source=left, tag=BUFFER)
            wrong |= buffer[0] != size % 256
        else:
            comm.Recv([buffer, MPI.BYTE], source=left, tag=BUFFER)
            buffer[0] = (buffer[0] + 1) % 256
            comm.Send([buffer, MPI.BYTE], dest=right, tag=BUFFER)

        mine = bytearray((rank + number).to_bytes(8, sys.byteorder))
        everyone = bytearray(8)
        comm.Allreduce([mine, MPI.INT64_T], [everyone, MPI.INT64_T], op=MPI.SUM)
        total += int.from_bytes(everyone, sys.byteorder)
        comm.Barrier()

    expected = rounds * size * (size - 1) // 2 + size * rounds * (rounds - 1) // 2
    wrong |= total != expected
    if wrong:
        print(f"ring: rank {rank} received a wrong number", file=sys.stderr)
    elif rank == 0:
        print(f"ring ranks {size} rounds {rounds} bytes {length} sum {total}", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
