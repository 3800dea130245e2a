#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What users see at a terminal: terminal.py STRAG

Runs commands that take seconds under a pseudo-terminal: a line on standard error says how far they
are and is gone at the end; ^C ends them at once. Prints each difference; exit status 1 if there is one.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

FAILED = []
CHECKS = 0
LIMIT = 300  # seconds, for a machine that is very busy
# A table that takes much longer than any test, and little memory: its ^C has time.
LONG = "explain --torus 32x32x32 --ranks-per-node 4 --bytes 1K --exhaustive"


def check(good, what):
    global CHECKS
    CHECKS += 1
    if not good:
        FAILED.append(what)
        print(what)


class Session:
    """A command with a terminal as its standard error, and as its standard output if there is no file"""

    def __init__(self, strag, arguments, out=None, columns=80):
        self.seen = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore ^C
            fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
            if out is not None:
                os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.execv(strag, [strag, *arguments.split()])

    def read(self, until=None):
        """Up to the end, or to something that is seen. @return was it seen, or did it end?"""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if until and re.search(until, self.seen):
                return True
            if not select.select([self.terminal], [], [], 1)[0]:
                continue
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                return not until
            if not data:
                return not until
            self.seen += data
        return False

    def end(self):
        """@return the exit status as a shell has it"""
        if not self.read():
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.terminal)
        status = os.waitpid(self.pid, 0)[1]
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def screen(seen):
    """What stands on the terminal in the end: lines, of which the last has no line feed. @return text"""
    lines = [[]]
    at = 0
    for letter in seen.decode():
        if letter == "\r":
            at = 0
        elif letter == "\n":
            lines.append([])
            at = 0
        else:
            lines[-1][at:at + 1] = [letter]
            at += 1
    return "\n".join("".join(line).rstrip() for line in lines)


def interrupted(strag):
    """^C while candidates are priced"""
    session = Session(strag, LONG)
    check(session.read(rb"strag explain: [a-z-]+, \d+ of \d+, \d+ %, \d+ s"), "explain shows no progress")
    os.write(session.terminal, b"\x03")
    status = session.end()
    check(status == 130, f"^C: exit status {status}")
    check(screen(session.seen) == "strag explain: interrupted; what was written so far is not complete\n",
          f"after ^C: {screen(session.seen)!r}")


def narrow(strag):
    """The line does not wrap."""
    session = Session(strag, LONG, columns=24)
    check(session.read(rb"\rstrag explain: [^\r]*\r"), "no progress on a narrow terminal")
    os.write(session.terminal, b"\x03")
    session.end()
    widths = [len(part) for part in session.seen.split(b"^C")[0].split(b"\r")]
    check(max(widths) == 23, f"{max(widths)} columns of 24")


def is_silent(strag, arguments, pause=0):
    """Is there a run without progress? On a busy machine what takes no time may take a second. `pause`:
    seconds that the command has to wait for the terminal"""
    for _ in range(10):
        session = Session(strag, arguments)
        time.sleep(pause)
        session.end()
        if f"strag {arguments.split()[0]}:".encode() not in session.seen:
            return True
    return False


def finished(strag):
    """What takes more than a second and ends: nothing of the line stays."""
    # A line to the same terminal has no progress before it.
    for arguments, out, shows, leaves in (
            ("plan ring -n 1300 --yes --format json", "/dev/null", rb"strag plan: writing, \d+ %, \d+ s", "$"),
            ("verify hamiltonian -n 1100", None, rb"strag verify: running, 4 of 4, \d+ %, \d+ s",
             "verified hamiltonian n=1100 blocks=1100 ")):
        session = Session(strag, arguments, out)
        status = session.end()
        check(status == 0, f"{arguments}: exit status {status}")
        check(re.search(shows, session.seen), f"{arguments} shows {session.seen[-200:]}")
        check(re.match(leaves, screen(session.seen)), f"{arguments} leaves {screen(session.seen)!r}")
    # Nothing is shown of what is quick, and nothing between operations on the terminal.
    check(is_silent(strag, "explain -n 8 --bytes 1K"), "progress of what takes no time")
    check(is_silent(strag, "plan ring -n 100", pause=2), "progress within the output")


def wait_until_caught(process, caught):
    """Until the process has a handler for the signal"""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and process.poll() is None:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            mask = re.search(r"^SigCgt:\s*([0-9a-f]+)$", file.read(), re.MULTILINE)
        if int(mask.group(1), 16) >> (caught - 1) & 1:
            return
        time.sleep(0.05)
    check(False, f"signal {caught} is not caught")


def elsewhere(strag):
    """Where standard error is no terminal there is no progress, but ^C has its line; ignored, it has none."""
    for ignored in (False, True):
        with subprocess.Popen([strag, *LONG.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if ignored
                                                               else signal.SIG_DFL)) as process:
            wait_until_caught(process, signal.SIGTERM)  # the last one that it looks after
            time.sleep(1.5)  # for progress that it should not show
            process.send_signal(signal.SIGINT)
            if ignored:
                time.sleep(0.5)
                check(process.poll() is None, "an ignored ^C ends it")
                process.send_signal(signal.SIGTERM)
            out, err = process.communicate()
            wanted = signal.SIGTERM if ignored else signal.SIGINT
            check(process.returncode == -wanted, f"signal {wanted}: {process.returncode}")
            check(out == b"" and err == b"strag explain: interrupted; what was written so far is not complete\n",
                  f"signal {wanted}: {out!r} {err!r}")


def main():
    strag = sys.argv[1]
    interrupted(strag)
    narrow(strag)
    finished(strag)
    elsewhere(strag)
    print(f"terminal: {CHECKS - len(FAILED)} of {CHECKS} checks passed")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
