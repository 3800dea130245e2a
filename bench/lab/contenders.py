# SPDX-License-Identifier: BSD-3-Clause
"""Contenders, and settings of Open MPI's protocols.

A contender is a communicator of the benchmark, as allreduce_lab --contender takes it. Contenders of
one setting alternate within one run; each setting is a run of its own.
"""
import dataclasses

# Open MPI 4.1's names for the numbers of coll_tuned_allreduce_algorithm.
TUNED = {3: "recursive-doubling", 4: "ring", 6: "rabenseifner"}
SLOW_MOST = 1 << 20  # bytes; algorithms that send whole vectors take too long with more
DOUBLING_MOST = 256 << 10  # the same for recursive doubling with many ranks
WHOLE_VECTORS = ("recursive-doubling", "swing-latency")
NO_STRAG = "ompi_comm_coll_preference=^strag"


@dataclasses.dataclass
class Contender:
    name: str
    text: str  # what follows the name in --contender
    algorithm: str = ""  # of strag; its plan is what should be sent

    @property
    def is_strag(self):
        return self.name.startswith("strag")

    def argument(self):
        return f"{self.name},{self.text}" if self.text else self.name


def strag_ones(strag, wanted=()):
    """auto, and those of the wanted algorithms that can be planned there; (): all algorithms."""
    yield Contender("strag-auto", "")
    for name in strag.algorithms:
        if not wanted or name in wanted:
            late = f",coll_strag_straggler={strag.late}" if strag.needs_late(name) else ""
            yield Contender(f"strag-{name}", f"coll_strag_algorithm={name}{late}", name)


def tuned_ones(numbers=TUNED):
    for number in numbers:
        yield Contender(f"tuned-{TUNED[number]}", f"{NO_STRAG},cvar:coll_tuned_allreduce_algorithm={number}")


def stock_ones():
    """Its own choice and those of its algorithms that may be the fastest: whose fastest is "its best" (ratios.STOCK)."""
    return [Contender("tuned", NO_STRAG), *tuned_ones()]


def for_long(strag, wanted=()):
    """Those suited to long vectors. `tuned` is there twice: the two differ by noise only."""
    return [*strag_ones(strag, wanted), *stock_ones(), Contender("tuned-again", NO_STRAG)]


def for_uplinks(strag, wanted=()):
    """Those suited to long vectors on hosts with several ranks."""
    return [*strag_ones(strag, wanted), *stock_ones(), Contender("han", "ompi_comm_coll_preference=han")]


def pinned(strag, wanted=()):
    """Algorithms for a straggler that is configured, and the ring."""
    return [contender for contender in strag_ones(strag, wanted) if contender.algorithm] + list(tuned_ones([4]))


def for_many(strag, wanted=()):
    """Those worth their time with 32 hosts and more, at rates at which a vector takes seconds: recursive doubling, which
    sends log2(ranks) vectors, has shorter ones only."""
    found = [*strag_ones(strag, wanted), *stock_ones()]
    for contender in found:
        if contender.name == "tuned-recursive-doubling":
            contender.text += f",most={DOUBLING_MOST}"
    return found


def observed(_strag, _wanted=()):
    """strag, which has to detect what happens, and a ring, which does not adapt: more would take hours."""
    return [Contender("strag-auto", "")] + list(tuned_ones([4]))


def settled(strag, wanted=()):
    """strag-auto from the first call on; once it has settled, all others run in turn with it. They
    know the links' speeds. Algorithms that send whole vectors run short ones only."""
    start = f",from={strag.settle}"
    for contender in strag_ones(strag, wanted):
        text = contender.text
        if contender.algorithm:
            text += start + strag.slowdown
            if contender.algorithm in WHOLE_VECTORS:
                text += f",most={SLOW_MOST}"
        yield Contender(contender.name, text, contender.algorithm)
    yield Contender("tuned", NO_STRAG + start)
    for number in TUNED:
        most = f",most={SLOW_MOST}" if TUNED[number] in WHOLE_VECTORS else ""
        yield Contender(f"tuned-{TUNED[number]}",
                        f"{NO_STRAG},cvar:coll_tuned_allreduce_algorithm={number}{start}{most}")


def rings(_strag, _wanted=()):
    """Three implementations of one algorithm, for repeatability."""
    return [Contender("strag-ring", "coll_strag_algorithm=ring", "ring")] + [
        Contender(name, f"{NO_STRAG},cvar:coll_tuned_allreduce_algorithm=4")
        for name in ("tuned-ring", "tuned-ring-again")]


EAGER = str(64 << 20)

# Further MCA parameters; "default" is what users get.
SETTINGS = {
    "default": {},
    "send": {"btl_tcp_flags": "9"},
    "eager": {"btl_tcp_flags": "9", "btl_tcp_eager_limit": EAGER,
              "btl_tcp_rndv_eager_limit": EAGER},
    "ucx": {"pml": "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"},
}
MEANING = {
    "default": "Open MPI's default: pml ob1, btl tcp, rendezvous by PUT",
    "send": "pml ob1 with btl_tcp_flags 9: rendezvous by SEND",
    "eager": "as send, and eager limits of 64 MiB",
    "ucx": "pml ucx over TCP",
}
