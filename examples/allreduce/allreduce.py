"""Sums a number of each process over all of them, by a ring of TCP connections.

It starts from what torch.distributed starts from with init_method "env://", and what torchrun sets: RANK, WORLD_SIZE,
MASTER_ADDR and MASTER_PORT. Process 0 listens there, hears where each of the others listens (on a port that the kernel
gave), and tells all of them. It knows nothing of Skep.
"""

import json
import os
import socket
import time

PATIENCE = 120  # seconds in which all processes come to be


def connect(address):
    """Connects to a process that may not listen yet."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(address, timeout=PATIENCE)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def send(connection, value):
    connection.sendall(json.dumps(value).encode() + b"\n")


def receive(connection):
    line = b""
    while not line.endswith(b"\n"):
        part = connection.recv(1)
        if not part:
            raise ConnectionError("the other process has gone")
        line += part
    return json.loads(line)


def rendezvous(rank, size, port):
    """Returns where each process listens, by rank."""
    master = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if rank != 0:
        with connect(master) as to:
            send(to, [rank, to.getsockname()[0], port])
            return receive(to)
    table = {0: [master[0], port]}
    with socket.create_server(("", master[1]), backlog=size) as server:
        server.settimeout(PATIENCE)
        others = []
        while len(table) < size:
            other, _ = server.accept()
            other.settimeout(PATIENCE)
            r, host, at = receive(other)
            table[r] = [host, at]
            others.append(other)
        all_of_them = [table[r] for r in range(size)]
        for other in others:
            with other:
                send(other, all_of_them)
        return all_of_them


def main():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    with socket.create_server(("", 0)) as server:
        server.settimeout(PATIENCE)
        table = rendezvous(rank, size, server.getsockname()[1])
        after = connect(tuple(table[(rank + 1) % size]))
        before, _ = server.accept()
    before.settimeout(PATIENCE)
    total = passed = rank
    for _ in range(size - 1):  # each number goes once around the ring
        send(after, passed)
        passed = receive(before)
        total += passed
    print(f"rank {rank} of {size}: sum {total}", flush=True)


main()
