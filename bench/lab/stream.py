# SPDX-License-Identifier: BSD-3-Clause
"""Plain TCP between hosts of a lab: the goodput of its links and its latency, without MPI."""
import os
import socket
import struct
import time

import box

PORT = 20000
PIECE = memoryview(bytes(256 * 1024))
START_UP = 0.3  # seconds until all streams are connected ...
START_UP_EACH = 0.01  # ... and more for each of them
BURSTS = 50  # that many bytes at least: a link passes the first burst unshaped
LATENCY = "added latency"  # its name in a calibration
PINGS = 50  # of a round trip
PING = b"ping"
LIMIT = 600  # seconds for any of them; beyond that, something is broken


def receive(listener, size, result):
    listener.settimeout(LIMIT)
    connection, _ = listener.accept()
    connection.settimeout(LIMIT)
    room = bytearray(256 * 1024)
    while size > 0:
        count = connection.recv_into(room)
        if count == 0:
            break
        size -= count
    os.write(result, struct.pack("d", time.monotonic()))
    connection.close()


def send(address, port, size, start):
    with socket.create_connection((address, port), timeout=LIMIT) as connection:
        connection.settimeout(LIMIT)
        time.sleep(max(0, start - time.monotonic()))
        while size > 0:
            size -= connection.send(PIECE[:min(size, len(PIECE))])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # until the other side has read all and closed


def listen(port, size, result, ready):
    with socket.create_server(("0.0.0.0", port)) as listener:
        os.write(ready, b".")
        receive(listener, size, result)


def run(lab, pairs, size):
    """Send this many bytes over each pair of hosts (from, to) at the same time. Returns the seconds
    that each took."""
    readable, ready = os.pipe()
    results, children = [], []
    for number, (_, target) in enumerate(pairs):
        result, write_end = os.pipe()
        results.append(result)
        children.append(lab.exercise(
            target, lambda n=number, w=write_end: listen(PORT + n, size, w, ready)))
        os.close(write_end)
    os.close(ready)
    for _ in pairs:
        if os.read(readable, 1) != b".":
            raise RuntimeError("a stream's receiver could not be started")
    start = time.monotonic() + START_UP + START_UP_EACH * len(pairs)
    for number, (source, target) in enumerate(pairs):
        address = lab.network.hosts[target].address
        children.append(lab.exercise(
            source, lambda n=number, a=address: send(a, PORT + n, size, start)))
    seconds = []
    for result in results:
        answer = os.read(result, 8)
        if len(answer) != 8:
            raise RuntimeError("a stream broke off")
        seconds.append(struct.unpack("d", answer)[0] - start)
        os.close(result)
    for child in children:
        os.waitpid(child, 0)
    os.close(readable)
    return seconds


def answer(port, ready):
    """Send back what comes, until the other side closes."""
    with socket.create_server(("0.0.0.0", port)) as listener:
        os.write(ready, b".")
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := connection.recv(len(PING)):
            connection.send(data)


def ping(address, port, result):
    with socket.create_connection((address, port), timeout=LIMIT) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        for _ in range(PINGS):
            start = time.monotonic()
            connection.send(PING)
            connection.recv(len(PING))
            times.append(time.monotonic() - start)
    os.write(result, struct.pack("d", min(times)))  # of a busy machine only the shortest is the network's


def round_trip(lab, address):
    """Seconds from host 0 to host 1, which has that address, and back; the shortest of some."""
    readable, ready = os.pipe()
    result, write_end = os.pipe()
    children = [lab.exercise(1, lambda: answer(PORT, ready))]
    os.close(ready)
    if os.read(readable, 1) != b".":
        raise RuntimeError("what answers could not be started")
    children.append(lab.exercise(0, lambda: ping(address, PORT, write_end)))
    os.close(write_end)
    found = os.read(result, 8)
    for child in children:
        os.waitpid(child, 0)
    os.close(readable)
    os.close(result)
    if len(found) != 8:
        raise RuntimeError("a connection broke off")
    return struct.unpack("d", found)[0]


def added_latency(lab):
    """How much later data arrives than over the network of mpirun's own traffic, which has no
    latency, over what was asked for."""
    more = round_trip(lab, lab.network.hosts[1].address) - round_trip(lab, box.control_address(1))
    return more / (2e-6 * lab.network.latency_us)


def compare(lab, pairs, about_seconds=1.5):
    """The time of streams over that of the rates: 1 is exact, above 1 slower."""
    per_byte = lab.network.busiest_seconds({pair: 1 for pair in pairs})
    size = max(int(about_seconds / per_byte), BURSTS * box.BURST)
    return max(run(lab, pairs, size)) / (size * per_byte)


def round_robin(lab, distance=1):
    """Every host sends to the one `distance` after it."""
    count = len(lab.network.hosts)
    return [(host, (host + distance) % count) for host in range(count)]


def shifted(network, dimension, distance):
    """On a torus: every host sends to the one `distance` further in one dimension."""
    pairs = []
    for host in range(len(network.hosts)):
        target = host
        for _ in range(distance):
            target = network.neighbour(target, dimension, 1)
        pairs.append((host, target))
    return pairs


def calibrate(lab):
    """{what: measured time / expected time}; the first one decides whether ratios are reported."""
    network = lab.network
    if len(network.hosts) < 2:
        return {}
    found = {"stream": compare(lab, [(0, 1), (1, 0)])}
    if network.latency_us:
        found[LATENCY] = added_latency(lab)
    if network.kind == "tree":
        found["all hosts to the next"] = compare(lab, round_robin(lab))
        return found
    for dimension, size in enumerate(network.dims):
        found[f"neighbours, dimension {dimension}"] = compare(
            lab, shifted(network, dimension, 1))
        if size >= 4:
            found[f"distance 2, dimension {dimension}"] = compare(
                lab, shifted(network, dimension, 2))
    return found
