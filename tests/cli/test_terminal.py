"""What people are told: it harms neither the work when it cannot be said, nor the terminal that shows it."""

import json
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import time

import pytest

from conftest import (BINARY, CANNOT_WRITE, OK, SOURCE, USAGE, hqmm, random_kraus, shared,
                      wait_until_caught, write_hqmm)

INTERRUPTED = 130
HOSTILE = SOURCE / "tests" / "formats" / "terminal"
SHORT = ["-n", "2", "-w", "1", "--epochs", "2"]
LONG = ["-n", "2", "-w", "1", "--epochs", "100000000"]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 1 2 2 1 0 0 1\n1 1 2 0 2 2 1 0\n" * 4)
    return path


# One place writes to stderr

def test_nothing_else_writes_to_stderr():
    told = re.compile(r"\bstderr\b|STDERR_FILENO|std::cerr|std::clog|perror")
    for path in (SOURCE / "tools" / "hqmm").rglob("*.?pp"):
        if path.name in ("terminal.cpp", "progress_line.cpp"):  # the latter asks for the width
            continue
        code = re.sub(r'"(?:[^"\\\n]|\\.)*"|R"\([^)]*\)"|//[^\n]*', "", path.read_text())
        assert not told.search(code), path


# Training does not depend on being heard

def spawn(*args, cwd, **streams):
    return subprocess.Popen([BINARY, *map(str, args)], cwd=cwd, stdin=subprocess.DEVNULL,
                            **{"stdout": subprocess.PIPE, **streams})


def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def closed_terminal():
    master, slave = pty.openpty()
    os.close(master)
    return slave


DEAF = {"full": lambda: os.open("/dev/full", os.O_WRONLY), "pipe": closed_pipe, "terminal": closed_terminal}


@pytest.mark.parametrize("kind", DEAF)
@pytest.mark.parametrize("command", [["train"], ["select", "-n", "1,2"]])
def test_training_survives_a_stderr_that_fails(tmp_path, data, kind, command):
    stderr = DEAF[kind]()
    sizes = SHORT if command == ["train"] else SHORT[2:]
    process = spawn(*command, data, "-o", "m.h5", *sizes, cwd=tmp_path, stderr=stderr)
    os.close(stderr)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == OK and b"m.h5" in out
    assert hqmm("inspect", tmp_path / "m.h5").returncode == OK


def test_errors_keep_their_codes_when_stderr_fails(tmp_path, data):
    for open_stderr in DEAF.values():
        for args, code in ((["score", "none", "none"], 66), (["scroe"], USAGE), (["sample", data], 65)):
            stderr = open_stderr()
            process = spawn(*args, cwd=tmp_path, stderr=stderr)
            os.close(stderr)
            assert process.wait(timeout=60) == code, args


def close(*descriptors):
    """For preexec_fn: as `<&- >&- 2>&-` does."""
    def run():
        for fd in descriptors:
            os.close(fd)
    return run


@pytest.mark.parametrize("closed", [[2], [0, 2]])
def test_no_file_of_ours_becomes_stderr(tmp_path, data, closed):
    run = tmp_path / "run"
    process = spawn("train", data, "--run", run, *SHORT, cwd=tmp_path, preexec_fn=close(*closed))
    process.communicate(timeout=60)
    assert process.returncode == OK
    for file in run.iterdir():
        assert b"hqmm: " not in file.read_bytes(), file
    assert hqmm("inspect", run / "model.h5").returncode == OK
    assert all(json.loads(line) for line in (run / "history.jsonl").read_text().splitlines())


def test_a_closed_stdout_cannot_be_written(tmp_path, model):
    for closed in ([1], [0, 1]):
        process = spawn("sample", model, cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=close(*closed))
        _, err = process.communicate(timeout=60)
        assert process.returncode == CANNOT_WRITE and b"stdout cannot be written" in err
    process = spawn("sample", model, "-o", "/dev/stdout", cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=close(1))
    assert process.communicate(timeout=60) and process.returncode == CANNOT_WRITE
    process = spawn("score", model, "-", cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=close(0))
    assert process.communicate(timeout=60) and process.returncode == 66, "nor a closed stdin read"


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["train", "--help"], ["classify", "fit", "--help"],
                                  ["sample", "MODEL"], ["inspect", "MODEL"], ["score", "MODEL", "DATA"],
                                  ["predict", "MODEL", "DATA"], ["baseline", "DATA", "DATA"],
                                  ["train", "DATA", "-o", "new.h5", *SHORT]])
def test_every_command_says_when_stdout_is_full(tmp_path, model, data, args):
    args = [{"MODEL": model, "DATA": data}.get(a, a) for a in args]
    with open("/dev/full", "w") as full:
        process = spawn(*args, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=60)
    assert process.returncode == CANNOT_WRITE and b"stdout cannot be written" in err
    assert args[0] != "train" or (tmp_path / "new.h5").exists() or "--help" in args


def test_a_reader_that_leaves_ends_the_program_quietly(tmp_path, model):
    process = spawn("sample", model, "--count", 100000, "--length", 10, cwd=tmp_path, stderr=subprocess.PIPE)
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == -signal.SIGPIPE and process.stderr.read() == b""


def test_a_reader_that_leaves_is_an_error_where_the_signal_is_ignored(tmp_path, model):
    process = spawn("sample", model, "--count", 100000, "--length", 10, cwd=tmp_path, stderr=subprocess.PIPE,
                    restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    process.stdout.close()
    assert process.wait(timeout=60) == CANNOT_WRITE and b"closed pipe" in process.stderr.read()


def test_a_limit_on_the_size_of_files_is_a_failed_write(tmp_path, model):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    process = spawn("sample", model, "-o", "s.txt", cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=limit)
    _, err = process.communicate(timeout=60)
    assert process.returncode == CANNOT_WRITE and b"s.txt: cannot be written: File too large" in err
    assert [p.name for p in tmp_path.iterdir()] == ["model.h5"]


# Signals

def training(tmp_path, data, **streams):
    """A training that is under way: its first epoch is in the checkpoint."""
    process = spawn("train", data, "--run", "run", *LONG, cwd=tmp_path,
                    **{"stderr": subprocess.PIPE, **streams})
    while not (tmp_path / "run" / "checkpoint.h5").exists():
        assert process.poll() is None
        time.sleep(0.001)
    return process


@pytest.mark.parametrize("times", [1, 3])
def test_a_terminal_that_goes_away_ends_training_with_all_saved(tmp_path, data, times):
    process = training(tmp_path, data)
    for _ in range(times):  # the kernel says so, and the shell
        process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED and b"the best model so far is in" in err
    assert hqmm("inspect", tmp_path / "run" / "model.h5").returncode == OK


@pytest.mark.parametrize("ignored", [signal.SIGHUP, signal.SIGINT])
def test_what_was_ignored_at_the_start_stays_ignored(tmp_path, data, ignored):
    process = training(tmp_path, data, preexec_fn=lambda: signal.signal(ignored, signal.SIG_IGN))
    wait_until_caught(process, signal.SIGTERM)
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
    assert not caught & 1 << (ignored - 1)
    process.send_signal(ignored)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED and b"the best model so far is in" in err


def test_ctrl_c_that_ends_the_reader_as_well(tmp_path, data):
    """hqmm train … | tee log: Ctrl-C ends tee first."""
    process = training(tmp_path, data)
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == INTERRUPTED
    assert b"interrupted: the best model so far is in" in process.stderr.read()
    assert hqmm("inspect", tmp_path / "run" / "model.h5").returncode == OK


def test_ctrl_c_that_ends_the_reader_of_both(tmp_path, data):
    """hqmm train … 2>&1 | tee log: neither the last line nor the progress is heard any more."""
    process = training(tmp_path, data, stderr=subprocess.STDOUT)
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == INTERRUPTED
    for name in ("model.h5", "checkpoint.h5", "summary.json"):
        assert (tmp_path / "run" / name).exists(), name
    assert hqmm("inspect", tmp_path / "run" / "model.h5").returncode == OK


# Nothing reaches a terminal that drives it

TREACHEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def harmless(shown):
    """Strict UTF-8, and no character that does anything."""
    text = shown.decode().replace("\r\n", "\n")  # a terminal's own
    assert not TREACHEROUS.search(text), ascii(text)
    return text


def run_bytes(*args, cwd, stdin=b""):
    return subprocess.run([os.fsencode(BINARY), *(a if isinstance(a, bytes) else os.fsencode(str(a)) for a in args)],
                          cwd=cwd, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def on_stdout_terminal(*args, cwd):
    """Everything that a terminal gets from the program, stdout and stderr."""
    master, slave = pty.openpty()
    process = subprocess.Popen([BINARY, *map(str, args)], cwd=cwd, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    try:
        while block := os.read(master, 4096):
            seen += block
    except OSError:  # the other end is closed
        pass
    os.close(master)
    assert process.wait(timeout=60) == OK, seen
    return seen


EVIL = b"\x1b]0;x\x07\xe2\x80\xae\xc2\x9b2J\xff\nhqmm: error: forged"


@pytest.mark.parametrize("args", [
    ["score", EVIL, "x"], ["score", "MODEL", EVIL], [EVIL], ["score", b"--" + EVIL], ["train", "DATA", "-o", EVIL + b"/m.h5"],
    ["train", "DATA", "-o", "m.h5", "--learner", EVIL], ["train", "DATA", "-o", "m.h5", "--epochs", EVIL],
    ["sample", "MODEL", "--count", EVIL], ["convert", "DATA", EVIL], ["score", "MODEL", "DATA", "--alphabet", EVIL],
    ["score", "MODEL", "DATA", "--format", EVIL], ["classify", EVIL], ["classify", "fit", "DATA", "-o", "c.h5", "--grid", EVIL],
    ["train", "--resume", EVIL], ["inspect", EVIL], ["data", "splice", "--from", EVIL], ["reproduce", EVIL],
    ["classify", "fit", "DATA", "-o", "c.h5", "--group", EVIL], ["select", "DATA", "-n", EVIL],
])
def test_arguments_are_shown_as_text_in_one_line(tmp_path, model, data, args):
    done = run_bytes(*({"MODEL": model, "DATA": data}.get(a, a) for a in args), cwd=tmp_path)
    assert done.returncode in (USAGE, 65, 66, CANNOT_WRITE), done
    text = harmless(done.stderr)
    assert text.startswith("hqmm: error: ") and text.count("\n") == 1, text


def test_names_of_files_are_shown_as_text(tmp_path, model, data):
    evil = os.fsencode(tmp_path) + b"/" + EVIL.replace(b"/", b"") + b".h5"
    os.rename(model, evil)
    for args in (["inspect", evil], ["score", evil, data], ["convert", evil, evil + b".json"],
                 ["train", data, "-o", evil, *SHORT], ["train", data, "--warm-start", evil, "-o", "m.h5", *SHORT]):
        done = run_bytes(*args, cwd=tmp_path)
        assert done.returncode == OK, done
        assert all(line.startswith("hqmm: ") for line in harmless(done.stderr).splitlines())
        harmless(done.stdout)


def make_hostile_classifier(tmp_path):
    done = run_bytes("classify", "fit", HOSTILE / "classes.txt", "-o", "clf.h5", "--epochs", 1, "--grid", "none", cwd=tmp_path)
    assert done.returncode == OK, done
    return done


def prose_commands(tmp_path):
    dna = write_hqmm(tmp_path / "dna.h5", random_kraus(4, 1, 2))
    assert hqmm("convert", dna, tmp_path / "dna.json").returncode == OK
    document = json.loads((tmp_path / "dna.json").read_text())
    document["alphabet"] = list("ACGT")
    (tmp_path / "dna.json").write_text(json.dumps(document))
    classes, model = HOSTILE / "classes.txt", HOSTILE / "model.json"
    return [["inspect", model], ["inspect", "clf.h5"],
            ["score", "dna.json", HOSTILE / "names.fa", "--per-sequence"],
            ["classify", "fit", classes, "-o", "new.h5", "--epochs", 1, "--grid", "none"],
            ["classify", "cross-validate", classes, "--folds", 2, "--epochs", 1, "--grid", "none", "--explain",
             "--report", "report.md"]]


def test_prose_is_harmless_even_in_a_pipe(tmp_path):
    harmless(make_hostile_classifier(tmp_path).stdout)
    for args in prose_commands(tmp_path):
        done = run_bytes(*args, cwd=tmp_path)
        assert done.returncode == OK, done
        assert "\\u" in harmless(done.stdout) or "\\x" in done.stdout.decode(), done.stdout
        harmless(done.stderr)
    harmless((tmp_path / "report.md").read_bytes())


def test_a_damaged_run_is_shown_as_text(tmp_path, data):
    assert hqmm("train", data, "--run", tmp_path / "run", *SHORT).returncode == OK
    for name, key in (("config.json", "train"), ("summary.json", "status")):
        file = tmp_path / "run" / name
        document = json.loads(file.read_text())
        document[key] = "\x1b[2J\u202e\u009b\nmodel   forged"
        file.write_text(json.dumps(document))
    text = harmless(run_bytes("inspect", tmp_path / "run", cwd=tmp_path).stdout)
    assert text.count("\\u001b[2J\\u202e\\u009b\\u000amodel   forged") == 2


def test_data_is_left_alone_in_a_pipe_and_harmless_on_a_terminal(tmp_path):
    model = HOSTILE / "model.json"
    tokens = json.loads(model.read_text())["alphabet"]
    sample = ["sample", model, "--count", 3, "--length", 20]
    piped = run_bytes(*sample, cwd=tmp_path).stdout.decode()
    assert set(piped.split()) == set(tokens)
    run_bytes(*sample, "-o", "s.txt", cwd=tmp_path)
    assert (tmp_path / "s.txt").read_text() == piped
    shown = harmless(on_stdout_terminal(*sample, cwd=tmp_path))
    assert set(shown.split()) == {json.dumps(token)[1:-1] for token in tokens}

    make_hostile_classifier(tmp_path)
    for args in (["sample", model, "--count", 2, "--length", 5, "--json"], ["inspect", model, "--json"],
                 ["inspect", "clf.h5", "--json"], ["predict", model, tmp_path / "s.txt", "--json"],
                 ["classify", "predict", "clf.h5", HOSTILE / "classes.txt", "--json"]):
        piped = json.loads(run_bytes(*args, cwd=tmp_path).stdout)
        shown = on_stdout_terminal(*args, "--quiet", cwd=tmp_path)  # no line of progress
        assert json.loads(harmless(shown)) == piped, "still the same JSON"
    harmless(on_stdout_terminal("classify", "predict", "clf.h5", HOSTILE / "classes.txt", cwd=tmp_path))


@pytest.mark.parametrize("name, args", [
    ("evil_names.fa", ["baseline", "FILE", "FILE"]),
    ("evil_alphabet.json", ["inspect", "FILE"]), ("evil_provenance.json", ["inspect", "FILE"]),
    ("evil_alphabet.json", ["score", "FILE", HOSTILE / "classes.txt"]),
    ("evil_classes.txt", ["classify", "cross-validate", "FILE", "--folds", 2, "--epochs", 1, "--grid", "none"]),
    ("evil_classes.csv", ["classify", "cross-validate", "FILE", "--folds", 2, "--epochs", 1, "--grid", "none",
                          "--label-column", "label"]),
    ("evil_uci.data", ["classify", "cross-validate", "FILE", "--folds", 2, "--epochs", 1, "--grid", "none",
                       "--group", "none"]),
])
def test_the_attackers_files(tmp_path, name, args):
    file = shared(f"attack/{name}")
    done = run_bytes(*(file if a == "FILE" else a for a in args), cwd=tmp_path)
    assert done.returncode in (OK, 65), done
    harmless(done.stdout), harmless(done.stderr)
