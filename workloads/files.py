#!/usr/bin/env python3
"""Writes a file of its own on each rank and reads it back.

    files.py [PIECES=50]

Each rank writes PIECES pieces of 1,000 bytes to files.RANK.python without a buffer, forces them out, reads them back at
once, and deletes the file. Calls on that file: 2 opens, PIECES of `write` (1,000 bytes each), 1 `fsync`, 1 `read` of all
bytes and 1 that finds the end, 2 closes.
"""
import os
import sys

from mpi4py import MPI

PIECE = 1000


def main():
    pieces = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    comm = MPI.COMM_WORLD
    path = f"files.{comm.rank}.python"
    piece = bytes((comm.rank + i) % 256 for i in range(PIECE))
    with open(path, "wb", buffering=0) as file:
        for _ in range(pieces):
            file.write(piece)
        os.fsync(file.fileno())
    with open(path, "rb", buffering=0) as file:
        wrong = int(file.read(PIECE * pieces) != piece * pieces)
        wrong += int(file.read(1) != b"")
    os.unlink(path)
    wrong = comm.allreduce(wrong)
    if comm.rank == 0:
        print(f"files.py: {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
