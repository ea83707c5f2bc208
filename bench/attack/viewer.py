"""The viewer: who learns its token, who can keep it busy, and what odd questions do to it."""
import os
import random
import re
import resource
import signal
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path

from reading_bench import Attack, NOBODY, PATIENCE, kill_group


class Viewer:
    """`kizami view`, and its address."""

    def __init__(self, bench, trace, descriptors=None, environment=None, opens=False, kizami=None):
        def limit():
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        words = [*(kizami or [bench.kizami]), "view", *([] if opens else ["--no-open"]), trace]
        self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        stdin=subprocess.DEVNULL, env={**bench.environment, **(environment or {})},
                                        preexec_fn=limit, start_new_session=True)
        self.printed = b""
        found = None
        deadline = time.monotonic() + PATIENCE
        while not found and time.monotonic() < deadline:
            line = self.process.stdout.readline()
            if not line:
                break
            self.printed += line
            found = re.search(rb"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", self.printed)
        if not found:
            self.end()
            raise RuntimeError(f"the viewer told no address: {self.printed!r}")
        self.port, self.token = int(found[1]), found[2].decode()
        self.connection = None

    def ask(self, path, patience=PATIENCE, fresh=True):
        """Status, body and how long it took; status 0 if there was no answer."""
        begun = time.monotonic()
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nX-Kizami-Token: {self.token}\r\n\r\n".encode()
        try:
            if fresh or self.connection is None:
                self.close()
                self.connection = socket.create_connection(("127.0.0.1", self.port), timeout=patience)
            self.connection.sendall(request)
            answer = b""
            while b"\r\n\r\n" not in answer:
                more = self.connection.recv(1 << 16)
                if not more:
                    raise OSError("closed")
                answer += more
            head, _, body = answer.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head.lower())
            while length and len(body) < int(length[1]):
                more = self.connection.recv(1 << 16)
                if not more:
                    raise OSError("closed")
                body += more
            return int(head.split()[1]), body, time.monotonic() - begun
        except OSError as error:
            self.close()
            return 0, str(error).encode(), time.monotonic() - begun

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def resident(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) << 10

    def is_alive(self):
        return self.process.poll() is None

    def end(self, how=signal.SIGTERM):
        self.connection = getattr(self, "connection", None)
        self.close()
        try:
            self.process.send_signal(how)
            self.process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            kill_group(self.process.pid)
            self.process.wait()
        self.process.stdout.close()


def viewer(bench):
    """The viewer keeps its token, answers beside silent connections, and does not grow by questions."""
    return [viewer_token(bench), viewer_ticket(bench), viewer_connections(bench), viewer_questions(bench)]


def viewer_token(bench):
    """Others on the machine can read every command line, so the token may be in none."""
    attack = Attack("viewer token", "command lines of all processes while a browser is opened", bench.options)
    folder = bench.scratch / "openers"
    folder.mkdir()
    # Whatever a desktop may be opened by; each stays for a while, as a browser does.
    openers = ["xdg-open", "gio", "gnome-open", "kde-open", "x-www-browser", "sensible-browser", "firefox", "wslview", "open"]
    for name in openers:
        opener = folder / name
        opener.write_text(f'#!/bin/sh\necho {name} >> "{folder}/called"\nsleep 3\n')
        opener.chmod(0o755)
    looks = 0
    for number in range(bench.options.count(10, 2)):
        environment = {"PATH": f"{folder}:{bench.environment['PATH']}", "DISPLAY": ":99"}
        if number % 2:
            environment["BROWSER"] = str(folder / "firefox")
        view = Viewer(bench, bench.sealed, environment=environment, opens=True)
        seen = set()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            looks += 1
            for entry in os.listdir("/proc"):
                if entry.isdigit():
                    try:
                        line = Path(f"/proc/{entry}/cmdline").read_bytes()
                    except OSError:
                        continue
                    if view.token.encode() in line:
                        seen.add(line.replace(b"\0", b" ").decode(errors="replace").replace(view.token, "TOKEN").strip())
        view.end()
        attack.case(seen and f"the token is in the command line of: {'; '.join(sorted(seen))}",
                    "DISPLAY=:99 kizami view RUN.kz, with an xdg-open on the PATH that sleeps; then: cat /proc/*/cmdline", [])
    called = (folder / "called").read_text().split() if (folder / "called").exists() else []
    attack.note(f"{looks} looks")
    attack.note(f"opened by: {', '.join(sorted(set(called))) or 'nobody'}")
    return attack.end()


ASK_ONCE = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
connection.request("GET", sys.argv[2])
print(connection.getresponse().status)
"""


def viewer_ticket(bench):
    """A browser is given an address that is good once. Others can read it, and may come first."""
    attack = Attack("viewer ticket", "another user comes first with the address a browser is given", bench.options)
    if os.geteuid() != 0:
        attack.note("left out: being another user needs root")
        return attack.end()
    folder = bench.scratch / "opener"
    folder.mkdir()
    (folder / "xdg-open").write_text(f'#!/bin/sh\necho "$1" > "{folder}/told"\n')
    (folder / "xdg-open").chmod(0o755)
    for _ in range(bench.options.count(10, 2)):
        (folder / "told").unlink(missing_ok=True)
        environment = {"PATH": f"{folder}:{bench.environment['PATH']}", "DISPLAY": ":99"}
        view = Viewer(bench, bench.sealed, environment=environment, opens=True)
        deadline = time.monotonic() + PATIENCE
        while not (folder / "told").exists() or not (folder / "told").read_text().endswith("\n"):
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        path = urllib.parse.urlsplit((folder / "told").read_text().strip()).path
        for user, wanted in ((NOBODY, b"403"), (0, b"303"), (0, b"403")):
            words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "python3", "-c", ASK_ONCE, view.port, path]
            status = bench.do(*words).out.strip()
            attack.case(status != wanted and f"user {user} was answered {status.decode()} instead of {wanted.decode()}",
                        f"DISPLAY=:99 kizami view RUN.kz, with an xdg-open on the PATH that tells its argument; then as user {user}: "
                        "curl -i ADDRESS", [])
        view.end()
    return attack.end()


def viewer_connections(bench):
    """Silent and slow connections of strangers, beside requests with the token that must be answered within 1 s."""
    attack = Attack("viewer connections", "idle and slow connections without the token beside requests with it", bench.options)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    wanted = bench.options.count(10_000, 1_000)
    count = min(wanted, hard - 200)
    if count < wanted:
        attack.note(f"only {count} connections: ulimit -n is {hard}")
    # With as many descriptors as it likes, and with fewer than there are connections.
    for descriptors in (hard, max(128, count // 4)):
        view = Viewer(bench, bench.sealed, descriptors=descriptors)
        opened = []
        try:
            view.ask("/api/run")
            refused = 0
            for number in range(count):
                one = socket.socket()
                one.settimeout(0.2)
                try:
                    one.connect(("127.0.0.1", view.port))
                    if number % 2:
                        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                    opened.append(one)
                except OSError:
                    one.close()
                    refused += 1
                    if refused > 10:
                        break
                if number % (count // 5) == count // 5 - 1:
                    ask_beside(attack, view, len(opened), descriptors)
            for _ in range(10):
                # Slow ones go on, a byte at a time.
                for one in opened[1::2]:
                    try:
                        one.send(b"a")
                    except OSError:
                        pass
                ask_beside(attack, view, len(opened), descriptors)
                time.sleep(0.2)
            attack.note(f"{descriptors} descriptors: {len(opened)} connections, {view.resident() >> 20} MiB resident")
            attack.case(not view.is_alive() and "the viewer ended", "see above", [])
        finally:
            for one in opened:
                one.close()
            view.end()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return attack.end()


def ask_beside(attack, view, connections, descriptors):
    status, _, took = view.ask("/api/run", patience=2)
    wrong = f"no answer in {took:.1f} s" if status == 0 else f"answered {status}" if status != 200 else \
        f"answered after {took:.1f} s" if took > 1 else None
    attack.case(wrong and f"{connections} connections, a viewer with {descriptors} descriptors: {wrong}",
                f"ulimit -n {descriptors}; kizami view --no-open RUN.kz; open {connections} connections, every other one with half a "
                "request; then ask /api/run with the token", [])


QUESTIONS = ["run", "verdict", "timeline", "calls", "messages", "collectives", "path", "parallelism", "tree", "phases", "stops", "histogram",
             "histogram/calls", "matrix", "matrix/labels", "flow", "links", "prediction", "tasks/curves", "tasks/tree", "tasks/flow",
             "tasks/lengths", "tasks/schedule", "no", "", "../x"]
PARAMETERS = ["layer", "from", "to", "ranks", "site", "sites", "columns", "rows", "order", "limit", "op", "low", "high", "by", "event", "parts",
              "aligned", "mark_from", "mark_to", "processors", "rank", "strategy", "x"]
ODD_VALUES = [0, 1, -1, 2, 255, 1000, 10**6, 10**9, 10**12, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, -2**63, 2**64 - 1, 2**64, "",
              "NaN", "1e9", "-0", "+5", " 5", "9" * 400, "a", "'", "<", "%00", "0-", "-", "0-4294967295", "3-1", "0,0,0", "1-2-3", "n0,t0,p0"]


def odd_question(chance):
    asked = {}
    for name in chance.sample(PARAMETERS, chance.randrange(6)):
        asked[name] = chance.choice(ODD_VALUES)
        if chance.random() < 0.5:
            asked[name] = {"order": chance.choice(["rank", "wait", "cluster"]), "by": chance.choice(["rank", "host"]),
                           "event": f"{chance.randrange(4)}:{chance.randrange(10**9)}", "layer": chance.randrange(4),
                           "columns": chance.randrange(1, 4000)}.get(name, chance.randrange(-10**6, 10**9))
    return f"/api/{chance.choice(QUESTIONS)}?{urllib.parse.urlencode(asked)}"


def viewer_questions(bench):
    """Questions of all kinds: none may break the viewer, and memory does not grow."""
    attack = Attack("viewer questions", "random questions; memory of the viewer grows by less than 10 %", bench.options)
    view = Viewer(bench, bench.sealed)
    statuses = {}
    try:
        # What is made once at the first question of its kind is no growth.
        warm = random.Random(0)
        for question in [f"/api/{name}" for name in QUESTIONS] + [odd_question(warm) for _ in range(bench.options.count(20_000, 1_500))]:
            view.ask(question, fresh=False)
        before = view.resident()
        for number in range(bench.options.count(1_000_000, 5_000)):
            question = odd_question(bench.chance)
            status, body, took = view.ask(question, fresh=number % 1000 == 0)
            statuses[status] = statuses.get(status, 0) + 1
            wrong = None
            if not view.is_alive():
                wrong = f"the viewer ended with {view.process.returncode}"
            elif status == 0:
                wrong = f"no answer: {body.decode(errors='replace')}"
            elif status >= 500 and status != 503:
                wrong = f"answered {status}: {body[:100].decode(errors='replace')}"
            elif took > 10:
                wrong = f"took {took:.0f} s"
            attack.case(wrong, f"kizami view --no-open RUN.kz; GET {question[:300]}", [])
            if not view.is_alive():
                break
        if view.is_alive():
            after = view.resident()
            attack.note(f"resident {before >> 10} KiB, then {after >> 10} KiB; answers: {dict(sorted(statuses.items()))}")
            attack.case(after > before * 1.1 and f"memory grew from {before >> 10} to {after >> 10} KiB", "reading.py --only viewer", [])
    finally:
        view.end()
    return attack.end()
