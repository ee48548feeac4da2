"""hqmm train --live: who gets an answer, to what, and until when."""

import contextlib
import json
import pathlib
import re
import signal
import socket
import subprocess

import pytest

from conftest import BINARY, OK, USAGE, fails, hqmm

INTERRUPTED = 130
LONG = ["-n", 2, "-w", 1, "--epochs", 100000000]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "data.txt"
    path.write_text("0 1 2 2 1 0 0 1\n1 1 2 0 2 2 1 0\n" * 4)
    return path


@pytest.fixture(scope="module")
def served(data, tmp_path_factory):
    """Whether this build serves pages; it says what is missing if not."""
    run = tmp_path_factory.mktemp("probe") / "run"
    done = hqmm("train", data, "-n", 2, "-w", 1, "--epochs", 1, "--run", run, "--live")
    if done.returncode == OK:
        return
    assert done.returncode == USAGE and not run.exists()
    assert re.search(r"built without (npm|cpp-httplib) .* install (nodejs and npm|libcpp-httplib-dev), build it again", done.stderr)
    pytest.skip("skipped: " + done.stderr.strip())


@contextlib.contextmanager
def showing(*words):
    """(process, port) of a command that shows a run; it is ended if the test has not."""
    process = subprocess.Popen([BINARY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        port = None
        while port is None:
            line = process.stderr.readline()
            assert line, "it ended before it said where it is"
            port = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        yield process, int(port[1])
    finally:
        process.kill()
        process.communicate()


def training(data, run, *args):
    return showing("train", data, "--run", run, "--live", *args)


def ask(port, path="/", method="GET", host=None, more="", address="127.0.0.1"):
    """(status, headers, body) of one request, sent as it stands."""
    host = f"Host: 127.0.0.1:{port}\r\n" if host is None else host
    with socket.create_connection((address, port), timeout=60) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{host}{more}\r\n".encode())
        answer = b""
        while block := connection.recv(65536):
            answer += block
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *headers = head.decode().split("\r\n")
    return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in headers), body


class Events:
    """What /events sends."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.sendall(f"GET /events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def __iter__(self):
        name = None
        while size := int(self.file.readline() or b"0", 16):
            block = self.file.read(size)
            self.file.readline()
            for line in block.decode().splitlines():
                key, _, value = line.partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    yield name, json.loads(value)

    def close(self):
        self.file.close()
        self.socket.close()


@pytest.mark.usefixtures("served")
def test_the_page_its_document_and_nothing_else(data, tmp_path):
    run = tmp_path / "run"
    with training(data, run, *LONG) as (_, port):
        status, headers, page = ask(port)
        assert status == 200 and headers["content-type"].startswith("text/html")
        held = re.search(r'<script type="application/json" id="document">(.*?)</script>', page.decode(), re.S)[1]
        status, headers, body = ask(port, "/document.json")
        assert status == 200 and headers["content-type"] == "application/json" and headers["cache-control"] == "no-store"
        for document in (json.loads(held), json.loads(body)):
            assert document["live"] is True and document["items"][0]["status"] == "training now"
        assert "access-control-allow-origin" not in headers
        secret = "config.json"
        for path in (f"/{secret}", "/../run/" + secret, f"/..%2frun%2f{secret}", str(run / secret), "//", "/./", "/document.json/",
                     "/events/", "/index.html", "/%2e%2e/", "/Document.json", "/\\..\\", "/" + "a" * 4000):
            status, _, body = ask(port, path)
            assert status == 404 and b"options" not in body, path
        assert ask(port, "/" + "a" * 100000)[0] in (400, 414)
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"):
            for path in ("/", "/document.json", "/events", "/none"):
                status, headers, _ = ask(port, path, method, more="Content-Length: 0\r\n")
                assert status == 405 and headers["allow"] == "get", (method, path)
        assert ask(port, method="BREW")[0] == 400
        assert ask(port, more="Range: bytes=" + ",".join(["0-"] * 500) + "\r\n")[0] == 416
        assert ask(port)[0] == 200, "it is still there"


@pytest.mark.usefixtures("served")
def test_a_name_that_was_made_to_mean_this_machine_gets_nothing(data, tmp_path):
    with training(data, tmp_path / "run", *LONG) as (_, port):
        for name in ("127.0.0.1", "localhost"):
            assert ask(port, host=f"Host: {name}:{port}\r\n")[0] == 200
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "localhost", f"127.0.0.1:{port + 1}", f"127.0.0.1:{port}.evil.example",
                     f"127.0.0.1:{port}@evil.example", f"127.0.0.2:{port}", f"0.0.0.0:{port}", f"[::1]:{port}", f"localhost.:{port}"):
            for path in ("/", "/document.json", "/events", "/none"):
                status, _, body = ask(port, path, host=f"Host: {host}\r\n")
                assert status == 403 and b"{" not in body, (host, path)
        assert ask(port, host="")[0] == 403
        assert ask(port, host=f"Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")[0] == 403
        assert ask(port, host="Host: evil.example\r\n", method="POST", more="Content-Length: 0\r\n")[0] == 403


@pytest.mark.usefixtures("served")
def test_no_other_address_is_listened_at(data, tmp_path):
    with training(data, tmp_path / "run", *LONG) as (process, port):
        own = set()
        for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # a file of the run that is closed by now
                own.add(fd.readlink().name)
        listening = []
        for table in ("tcp", "tcp6", "udp", "udp6"):
            with contextlib.suppress(FileNotFoundError):
                for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                    words = line.split()
                    if f"socket:[{words[9]}]" in own and (words[3] == "0A" or table.startswith("udp")):
                        listening.append((table, words[1]))
        assert listening == [("tcp", f"0100007F:{port:04X}")]
        with pytest.raises(ConnectionRefusedError):
            ask(port, address="127.0.0.2")


@pytest.mark.usefixtures("served")
def test_events_follow_the_training_and_end_with_it(data, tmp_path):
    run = tmp_path / "run"
    with training(data, run, *LONG) as (process, port):
        events = Events(port)
        assert events.status == 200
        seen = iter(events)
        epochs = []
        while len(set(epochs)) < 3:
            name, document = next(seen)
            assert name == "document" and document["live"]
            epochs.append(document["items"][0]["epochs_done"])
        assert epochs == sorted(epochs)
        process.send_signal(signal.SIGINT)
        *before, (_, last), end = list(seen)
        assert end == ("end", {}) and all(name == "document" for name, _ in before)
        assert last["live"] is False and last["items"][0]["status"] == "interrupted" and last["items"][0]["model"] is not None
        assert process.wait(timeout=60) == INTERRUPTED
        assert last == json.loads(hqmm("report", run, "--json").stdout)
        with pytest.raises(ConnectionRefusedError):
            ask(port)
        events.close()
    # A run that goes on is shown as well.
    with showing("train", "--resume", run, "--live") as (_, port):
        assert json.loads(ask(port, "/document.json")[2])["items"][0]["epochs_done"] >= epochs[-1]


@pytest.mark.usefixtures("served")
def test_those_who_look_take_nothing_from_the_training(data, tmp_path):
    words = ["-n", 2, "-w", 2, "--epochs", 30, "--restarts", 2, "--seed", 3]
    assert hqmm("train", data, *words, "--run", tmp_path / "alone").returncode == OK
    with training(data, tmp_path / "seen", *words) as (process, port):
        with contextlib.suppress(ConnectionError, OSError, IndexError):  # it may have ended
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]  # who ask for nothing
            all(True for _ in Events(port))
            for one in idle:
                one.close()
        out, _ = process.communicate(timeout=60)
        assert process.returncode == OK and "ran all " in out
    assert (tmp_path / "seen" / "model.h5").read_bytes() == (tmp_path / "alone" / "model.h5").read_bytes()
    assert {p.name for p in (tmp_path / "seen").iterdir()} == {p.name for p in (tmp_path / "alone").iterdir()}


@pytest.mark.usefixtures("served")
def test_only_so_many_look_at_once(data, tmp_path):
    with training(data, tmp_path / "run", *LONG) as (_, port):
        streams = [Events(port) for _ in range(9)]
        assert [one.status for one in streams] == [200] * 8 + [503]
        assert ask(port)[0] == 200, "there is a thread left for others"
        for one in streams:
            one.close()


@pytest.mark.usefixtures("served")
def test_what_live_takes(data, tmp_path):
    run = tmp_path / "run"
    fails(USAGE, "train", data, "-o", tmp_path / "m.h5", "--live", says=["--live", "--run"])
    for port in ("0", "65536", "-1", "x", "80 ", "8e3", data):
        fails(USAGE, "train", data, "--run", run, f"--live={port}", says=["--live", "a port from 1 to 65535"])
    fails(USAGE, "train", "--run", run, "--live", data, says="DATA goes before it")
    fails(USAGE, "select", data, "--live", says="no option '--live'")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        fails(USAGE, "train", data, "--run", run, "--live", port, says=[f"port {port}", "another"])
    assert not run.exists()
    with training(data, run, port, *LONG) as (_, found):
        assert found == port
