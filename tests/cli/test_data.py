"""hqmm data: a file fetched from a server on loopback, checked, and written whole or not at all."""

import functools
import gzip
import hashlib
import http.server
import socket
import threading

import pytest

from conftest import BAD_DATA, CANNOT_WRITE, NO_INPUT, OK, fails, hqmm, hqmm_json, on_terminal, shared

CONTENT = b"EI,    MADE-UP-1,     CCAGCTGCATCACAGGAGG\n" * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PUBLISHED = "ebbae10c85d3c285e2a2489a37e42bc2ee8d91d15005e391a9962fa3389a114f"


class Answers(http.server.BaseHTTPRequestHandler):
    """Each path is one way a server can behave."""

    def do_GET(self):
        if self.path == "/good":
            self.send(CONTENT)
        elif self.path == "/other":
            self.send(CONTENT + b"\n")
        elif self.path == "/empty":
            self.send(b"")
        elif self.path == "/short":  # promises more than it sends
            self.send(CONTENT[:1000], promised=len(CONTENT))
        elif self.path == "/huge":
            self.send(b"x" * 1000, promised=10**12)
        elif self.path == "/endless":  # never says how much
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                pass  # the client has had enough
        elif self.path == "/moved":
            self.move("/good")
        elif self.path == "/loop":
            self.move("/loop")
        elif self.path == "/away":
            self.move("file:///etc/hostname")
        else:
            self.send_error(404)
        self.close_connection = True

    def send(self, body, promised=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        self.end_headers()
        self.wfile.write(body)

    def move(self, to):
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


@pytest.fixture
def data(tmp_path, monkeypatch):
    """`hqmm data splice --from …` in an empty folder, expecting CONTENT."""
    monkeypatch.delenv("HQMM_DATA", raising=False)
    return functools.partial(call, tmp_path)


def call(folder, run, source, *args, sha256=SHA256, **kwargs):
    return run("data", "splice", "--from", source, "--sha256", sha256, *args, cwd=folder, **kwargs)


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("path", ["/good", "/moved"])
def test_the_right_file_is_written(server, data, tmp_path, path):
    done = data(hqmm, server + path)
    assert done.returncode == OK and done.stdout == "", done.stderr
    assert done.stderr.count("\n") == 1 and "\r" not in done.stderr  # no progress off a terminal
    assert (tmp_path / "splice.data").read_bytes() == CONTENT
    assert names(tmp_path) == ["splice.data"]


def test_json_says_what_came_from_where(server, data, tmp_path):
    found = data(hqmm_json, server + "/good", "-o", "x.data", "--quiet")
    assert found == {"data": "splice", "path": "x.data", "from": server + "/good",
                     "bytes": len(CONTENT), "sha256": SHA256}
    assert names(tmp_path) == ["x.data"]


def test_paths_file_addresses_gzip_and_stdin(data, tmp_path):
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    packed = tmp_path / "source.gz"
    packed.write_bytes(gzip.compress(CONTENT))
    for i, origin in enumerate([source, f"file://{source}", f"FILE://{source}", packed]):
        assert data(hqmm, origin, "-o", f"out{i}").returncode == OK, origin
        assert (tmp_path / f"out{i}").read_bytes() == CONTENT
    assert data(hqmm, "-", "-o", "out", stdin=CONTENT).returncode == OK


def test_the_default_place_is_in_hqmm_data(server, data, tmp_path, monkeypatch):
    monkeypatch.setenv("HQMM_DATA", str(tmp_path / "sets" / "here"))
    assert data(hqmm, server + "/good", "--quiet").stderr == ""
    assert (tmp_path / "sets" / "here" / "splice.data").read_bytes() == CONTENT
    assert names(tmp_path) == ["sets"]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HQMM_DATA", str(tmp_path / "file"))
    data(functools.partial(fails, CANNOT_WRITE), server + "/good", says="file")


@pytest.mark.parametrize("path, code, says", [
    ("/other", BAD_DATA, ["SHA-256", SHA256, hashlib.sha256(CONTENT + b"\n").hexdigest(), "nothing was written"]),
    ("/empty", BAD_DATA, ["SHA-256", "0 bytes"]),
    ("/huge", BAD_DATA, "larger"),
    ("/endless", BAD_DATA, "larger"),
    ("/nowhere", NO_INPUT, "404"),
    ("/short", NO_INPUT, "/short"),
    ("/loop", NO_INPUT, "redirect"),
    ("/away", NO_INPUT, "file"),
])
def test_what_goes_wrong_leaves_the_old_file(server, data, tmp_path, path, code, says):
    for before in (None, b"old\n"):
        if before:
            (tmp_path / "splice.data").write_bytes(before)
        data(functools.partial(fails, code), server + path, says=says)
        assert names(tmp_path) == (["splice.data"] if before else [])
    assert (tmp_path / "splice.data").read_bytes() == b"old\n"


def test_nobody_answers(data, tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: refused
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/splice.data"
        data(functools.partial(fails, NO_INPUT), address, says=address)
    data(functools.partial(fails, NO_INPUT), "http://127.0.0.1:99999/x", says="99999")
    data(functools.partial(fails, NO_INPUT), tmp_path / "missing", says="no such file")
    data(functools.partial(fails, NO_INPUT), f"file://{tmp_path}/missing", says="missing")
    assert names(tmp_path) == []


def test_without_an_address_it_asks_the_uci_repository(tmp_path, monkeypatch):
    """A proxy on loopback hears where to, and lets nothing out."""
    asked = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_CONNECT(self):
            asked.append(self.path)
            self.send_error(403)

        def log_message(self, *_):
            pass

    for name in ("NO_PROXY", "no_proxy", "HQMM_DATA"):
        monkeypatch.delenv(name, raising=False)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
        for name in ("https_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port}")
        fails(NO_INPUT, "data", "splice", cwd=tmp_path, says="https://archive.ics.uci.edu/ml/")
        proxy.shutdown()
    assert asked == ["archive.ics.uci.edu:443"] and names(tmp_path) == []
    assert "https://archive.ics.uci.edu/ml/" in hqmm("data", "--help").stdout


def test_a_made_up_file_is_not_the_published_one(data, tmp_path):
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    fails(BAD_DATA, "data", "splice", "--from", source, cwd=tmp_path, says=PUBLISHED)
    assert names(tmp_path) == ["source"]


def test_the_published_file_passes(tmp_path):
    original = shared("data/splice/splice.data")
    assert hqmm("data", "splice", "--from", original, cwd=tmp_path).returncode == OK
    assert (tmp_path / "splice.data").read_bytes() == original.read_bytes()


def test_a_target_that_cannot_be_written(server, data, tmp_path):
    data(functools.partial(fails, CANNOT_WRITE), server + "/good", "-o", "no/such/folder/x",
         says="no/such/folder/x")
    assert names(tmp_path) == []


def test_progress_shows_on_a_terminal_and_leaves_no_trace(server, tmp_path):
    code, shown = on_terminal("data", "splice", "--from", server + "/good", "--sha256", SHA256, "-o", "x",
                              cwd=tmp_path)
    assert code == OK
    assert "fetching: " in shown
    assert "\r\033[Khqmm: splice.data: " in shown
