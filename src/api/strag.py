# SPDX-License-Identifier: BSD-3-Clause
"""libstrag from Python, by ctypes: plans of an allreduce, their proofs and costs. strag.h has the contract.

    import strag
    job = strag.Allreduce(topology=strag.Layout.read("topology.conf").fill(64))
    for entry in job.select():                  # the best algorithm by the model, from a size on
        print(entry.bytes, entry.algorithm)
    print(job.verify("ring").sent_max)          # proved to be an allreduce: vectors that a rank sends at most
    print(job.cost("ring", [1024, 1 << 20]))    # seconds
    for op in job.plan("ring", rank=0).operations:
        print(op.round, op.kind, op.peer, op.first, op.count)
    open("ring.json", "w").write(job.show("ring", "json"))

What fails raises strag.Error, with libstrag's reason and status. The library is the one that STRAG_LIBRARY names, or
libstrag.so.0 as the linker finds it. Needs Python 3 alone.
"""
import array
import collections
import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_size_t, c_void_p

SELECTED_MAX = 48  # STRAG_SELECTED_MAX
KINDS, FORMATS = ("send", "recv", "recv_reduce"), ("text", "json")

Selected = collections.namedtuple("Selected", "bytes algorithm blocks")
Operation = collections.namedtuple("Operation", "kind peer first count round own_left stage waits")
Plan = collections.namedtuple("Plan", "blocks rounds operations")


class Error(Exception):
    """The reason in a line; `status`: enum strag_status."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


class _Int(c_int):
    @classmethod
    def from_param(cls, value):
        if not -1 << 31 <= value < 1 << 31:  # c_int would take its lowest 32 bits
            raise ValueError(f"{value} must be from -2^31 to 2^31 - 1")
        return cls(value)


class _Reason(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 1024)]


class _Operation(ctypes.Structure):
    _fields_ = [("kind", c_int), ("peer", c_int), ("first", c_int), ("count", c_int), ("round", c_int),
                ("own_left", c_bool), ("stage", c_char_p)]


class _Selected(ctypes.Structure):
    _fields_ = [("bytes", c_size_t), ("algorithm", c_char_p), ("blocks", c_int)]


class Verified(ctypes.Structure):
    """What a proof has counted. A vector is 1."""
    _fields_ = [("blocks", c_int), ("rounds", c_int), ("sent_max", c_double), ("sent_total", c_double),
                ("reduce_max", c_double)]


# Arguments of the functions that return a status, without the last one, the reason; of others: result, then arguments.
_STATUS = {
    "layout_read": (c_char_p, c_void_p), "layout_describe": (c_char_p, c_char_p, c_void_p),
    "layout_fill": (c_void_p, c_int, c_int, c_char_p, c_void_p), "topology_flat": (c_int, c_int, c_void_p),
    "allreduce_create": (c_int, c_void_p, c_void_p), "allreduce_set_blocks": (c_void_p, c_int),
    "allreduce_set_ports": (c_void_p, c_int), "allreduce_set_straggler": (c_void_p, c_int, c_double),
    "allreduce_set_slow": (c_void_p, c_int, c_double), "allreduce_set_number": (c_void_p, c_char_p, c_double),
    "allreduce_plan": (c_void_p, c_char_p, c_int, c_void_p), "plan_file_read": (c_char_p, c_void_p),
    "given_plan": (c_void_p, c_int, c_void_p), "given_verify": (c_void_p, c_void_p),
    "allreduce_verify": (c_void_p, c_char_p, c_void_p),
    "allreduce_seconds": (c_void_p, c_char_p, c_void_p, c_int, c_void_p),
    "allreduce_select": (c_void_p, c_void_p, c_void_p),
    "allreduce_show": (c_void_p, c_char_p, c_int, c_void_p),
}
_VALUE = {
    "version": (c_char_p,), "algorithm_name": (c_char_p, c_int), "algorithm_summary": (c_char_p, c_char_p),
    "layout_hosts": (c_int, c_void_p), "topology_ranks": (c_int, c_void_p), "topology_hosts": (c_int, c_void_p),
    "given_ranks": (c_int, c_void_p), "plan_blocks": (c_int, c_void_p), "plan_rounds": (c_int, c_void_p),
    "plan_operation": (c_bool, c_void_p, c_int, c_void_p),
    "plan_waits": (POINTER(c_int32), c_void_p, c_int, c_void_p),
    "layout_free": (None, c_void_p), "topology_free": (None, c_void_p), "allreduce_free": (None, c_void_p),
    "plan_free": (None, c_void_p), "given_free": (None, c_void_p),
}


def _load():
    library, checked = ctypes.CDLL(os.environ.get("STRAG_LIBRARY", "libstrag.so.0")), {c_int: _Int}
    for name, takes in _STATUS.items():
        getattr(library, "strag_" + name).argtypes = (*(checked.get(kind, kind) for kind in takes), c_void_p)
    for name, (gives, *takes) in _VALUE.items():
        function = getattr(library, "strag_" + name)
        function.restype, function.argtypes = gives, [checked.get(kind, kind) for kind in takes]
    return library


_library = _load()
_libc = ctypes.CDLL(None)
_libc.open_memstream.restype = c_void_p
_libc.fclose.argtypes = _libc.free.argtypes = (c_void_p,)


def _value(name, *arguments):
    return getattr(_library, "strag_" + name)(*arguments)


def _do(name, *arguments):
    reason = _Reason()
    status = getattr(_library, "strag_" + name)(*arguments, byref(reason))
    if status < 0:
        raise Error(status, os.fsdecode(reason.text))


def _bytes(text):
    return None if text is None else os.fsencode(text)


class _Owned:
    """What libstrag has made, and frees when nobody has it any more."""

    def __init__(self, free, function, *arguments, keep=None):
        self._free, self._pointer, self._keep = free, c_void_p(), keep
        _do(function, *arguments, byref(self._pointer))

    def __del__(self):
        if getattr(self, "_pointer", None):
            _value(self._free, self._pointer)


class Topology(_Owned):
    """A job's ranks on a machine: Topology(64, 4) has four ranks on each host of one switch; others are of a Layout."""

    def __init__(self, n, ranks_per_host=1, function="topology_flat", arguments=None):
        super().__init__("topology_free", function, *(arguments or (n, ranks_per_host)))

    ranks = property(lambda self: _value("topology_ranks", self._pointer))
    hosts = property(lambda self: _value("topology_hosts", self._pointer))


class Layout(_Owned):
    """Hosts, and what joins them."""

    @classmethod
    def read(cls, file):
        return cls("layout_free", "layout_read", _bytes(file))

    @classmethod
    def describe(cls, kind, text):
        """As the command's options: describe("torus", "8x8")"""
        return cls("layout_free", "layout_describe", _bytes(kind), _bytes(text))

    hosts = property(lambda self: _value("layout_hosts", self._pointer))

    def fill(self, n=0, ranks_per_host=1, hosts=None):
        """The Topology of n ranks (0: as many as there is room for), host after host."""
        return Topology(n, function="layout_fill", arguments=(self._pointer, n, ranks_per_host, _bytes(hosts)))


def _plan(function, *arguments):
    plan, operations, made, length = _Owned("plan_free", function, *arguments), [], _Operation(), c_int()
    while _value("plan_operation", plan._pointer, len(operations), byref(made)):
        waits = _value("plan_waits", plan._pointer, len(operations), byref(length))
        operations.append(Operation(KINDS[made.kind], made.peer, made.first, made.count, made.round, made.own_left,
                                    made.stage.decode(), tuple(waits[:length.value])))
    return Plan(_value("plan_blocks", plan._pointer), _value("plan_rounds", plan._pointer), operations)


class Allreduce(_Owned):
    """What is to be planned: n ranks on hosts of their own, or those of a topology. slow={rank: factor};
    straggler=(rank, seconds); `numbers` are the model's, as alpha=4, link_latency=100, with the units of
    strag_allreduce_set_number."""

    def __init__(self, n=None, topology=None, blocks=0, ports=0, straggler=None, slow=(), **numbers):
        super().__init__("allreduce_free", "allreduce_create", topology.ranks if n is None else n,
                         topology and topology._pointer, keep=topology)
        _do("allreduce_set_blocks", self._pointer, blocks)
        _do("allreduce_set_ports", self._pointer, ports)
        if straggler:
            _do("allreduce_set_straggler", self._pointer, *straggler)
        for rank, factor in dict(slow).items():
            _do("allreduce_set_slow", self._pointer, rank, factor)
        for name, number in numbers.items():
            _do("allreduce_set_number", self._pointer, _bytes(name.replace("_", "-")), number)

    def plan(self, algorithm, rank):
        """One rank's Plan."""
        return _plan("allreduce_plan", self._pointer, _bytes(algorithm), rank)

    def verify(self, algorithm):
        """Prove all ranks' plans; Error if they are no allreduce."""
        verified = Verified()
        _do("allreduce_verify", self._pointer, _bytes(algorithm), byref(verified))
        return verified

    def cost(self, algorithm, sizes):
        """Seconds by the model, for each length of the vector in bytes."""
        sizes = array.array("Q", sizes)  # OverflowError for what c_size_t would cut
        seconds = (c_double * len(sizes))()
        _do("allreduce_seconds", self._pointer, _bytes(algorithm), (c_size_t * len(sizes))(*sizes), len(sizes), seconds)
        return list(seconds)

    def select(self):
        """[Selected]: the best algorithm by the model from `bytes` on, up to the next one's."""
        found, count = (_Selected * SELECTED_MAX)(), c_int()
        _do("allreduce_select", self._pointer, found, byref(count))
        return [Selected(one.bytes, one.algorithm.decode(), one.blocks) for one in found[:count.value]]

    def show(self, algorithm, format="text"):
        """All ranks' plans as text or json."""
        text, length = c_void_p(), c_size_t()
        file = _libc.open_memstream(byref(text), byref(length))
        try:
            _do("allreduce_show", self._pointer, _bytes(algorithm), FORMATS.index(format), file)
        finally:
            _libc.fclose(file)
            written = ctypes.string_at(text, length.value).decode()
            _libc.free(text)
        return written


class Given(_Owned):
    """The plans of all ranks, from a file (doc/plan-format.md)."""

    def __init__(self, file):
        super().__init__("given_free", "plan_file_read", _bytes(file))

    ranks = property(lambda self: _value("given_ranks", self._pointer))

    def plan(self, rank):
        return _plan("given_plan", self._pointer, rank)

    def verify(self):
        verified = Verified()
        _do("given_verify", self._pointer, byref(verified))
        return verified


def version():
    return _value("version").decode()


def algorithms():
    """{name: what it is good for}"""
    names = filter(None, (_value("algorithm_name", index) for index in range(256)))
    return {name.decode(): _value("algorithm_summary", name).decode() for name in names}
