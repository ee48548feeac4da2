"""Outputs: none takes the place of an input, and each appears whole or not at all."""

import fcntl
import os
import pathlib
import re
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import BINARY, OK, USAGE, fails, hqmm, random_kraus, write_hqmm

INTERRUPTED = 130
SHORT = ["-n", 2, "-w", 1, "--epochs", 1]
QUICK_FIT = ["--epochs", 1, "--grid", "none"]
RUN_FILES = ["config.json", "history.jsonl", "checkpoint.h5", "checkpoint-before.h5", "warm_start.h5", "stationarity.json", "summary.json", ".lock"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Every kind of input, read-only for the tests."""
    folder = tmp_path_factory.mktemp("made")
    write_hqmm(folder / "model.h5", random_kraus(2, 1, 2))
    (folder / "data.txt").write_text("0 1 0 1 1 0\n1 0 0 1 0 1\n1 1 0 0 1 0\n" * 3)
    (folder / "other.txt").write_text("0 1 1 1 1 0\n1 0 0 0 0 1\n")
    (folder / "labelled.txt").write_text("a\t0 1 0 1 0\nb\t1 0 1 1 1\nb\t1 1 1 1 0\na\t0 0 0 1 0\n" * 3)
    (folder / "map.txt").write_text("0 0 1 1 1\n")
    assert hqmm("classify", "fit", "labelled.txt", "-o", "clf.h5", *QUICK_FIT, cwd=folder).returncode == OK
    assert hqmm("train", "data.txt", "--run", "run", *SHORT, cwd=folder).returncode == OK
    return folder


@pytest.fixture
def folder(made, tmp_path):
    subprocess.run(["cp", "-r", f"{made}/.", tmp_path], check=True)
    return tmp_path


def contents(folder):
    return {p: p.read_bytes() for p in pathlib.Path(folder).rglob("*") if p.is_file()}


# What is read, what would overwrite it ("@"), and what the message names.
OVERWRITING = [
    ("data.txt", "score model.h5 data.txt -o @", ["-o", "DATA"]),
    ("model.h5", "score model.h5 data.txt -o @", ["-o", "MODEL"]),
    ("data.txt", "predict model.h5 data.txt -o @", ["-o", "DATA"]),
    ("model.h5", "predict model.h5 data.txt -o @", ["-o", "MODEL"]),
    ("model.h5", "sample model.h5 -o @", ["-o", "MODEL"]),
    ("model.h5", "inspect model.h5 -o @", ["-o", "MODEL"]),
    ("model.h5", "inspect model.h5 --figure @", ["--figure", "MODEL"]),
    ("clf.h5", "inspect clf.h5 -o @", ["-o", "MODEL"]),
    ("data.txt", "baseline data.txt other.txt -o @", ["-o", "TRAIN"]),
    ("other.txt", "baseline data.txt other.txt -o @", ["-o", "DATA"]),
    ("other.txt", "baseline data.txt data.txt --validation other.txt -o @", ["-o", "--validation"]),
    ("labelled.txt", "classify fit labelled.txt -o @", ["-o", "DATA"]),
    ("map.txt", "classify fit labelled.txt --positions map:map.txt -o @", ["-o", "--positions"]),
    ("map.txt", "classify fit labelled.txt --grid positions=stationary,map:map.txt -o @", ["-o", "--grid"]),
    ("labelled.txt", "classify predict clf.h5 labelled.txt -o @", ["-o", "DATA"]),
    ("clf.h5", "classify predict clf.h5 labelled.txt -o @", ["-o", "CLASSIFIER"]),
    ("clf.h5", "classify extract clf.h5 --class a -o @", ["-o", "CLASSIFIER"]),
    ("labelled.txt", "classify cross-validate labelled.txt -o @", ["-o", "DATA"]),
    ("labelled.txt", "classify cross-validate labelled.txt --report @", ["--report", "DATA"]),
    ("labelled.txt", "classify cross-validate labelled.txt --predictions @", ["--predictions", "DATA"]),
    ("data.txt", "train data.txt -o @", ["-o", "DATA"]),
    ("other.txt", "train data.txt --validation other.txt -o @", ["-o", "--validation"]),
    ("model.h5", "train data.txt --warm-start model.h5 -o @", ["-o", "--warm-start"]),
    ("data.txt", "select data.txt -n 1 -w 1 -o @", ["-o", "DATA"]),
    ("other.txt", "select data.txt --validation other.txt -n 1 -w 1 -o @", ["-o", "--validation"]),
    ("data.txt", "data splice --from data.txt -o @", ["-o", "--from"]),
]


@pytest.mark.parametrize("link", ["itself", "symbolic", "hard", "by the folder"])
@pytest.mark.parametrize("kept, command, says", OVERWRITING)
def test_no_input_is_overwritten(folder, kept, command, says, link):
    if link == "symbolic":
        (folder / "link").symlink_to(folder / kept)
    elif link == "hard":
        os.link(folder / kept, folder / "link")
    name = {"itself": kept, "by the folder": f"run/../{kept}"}.get(link, "link")
    before = contents(folder)
    fails(USAGE, *command.replace("@", name).split(), cwd=folder, says=["would overwrite", *says, kept])
    assert contents(folder) == before


@pytest.mark.parametrize("command", ["convert model.h5 model.h5", "convert model.h5 ./run/../model.h5", "convert data.txt data.txt"])
def test_convert_writes_another_file(folder, command):
    before = contents(folder)
    fails(USAGE, *command.split(), cwd=folder, says=["OUT", "would overwrite IN"])
    assert contents(folder) == before


def test_what_stdin_reads_is_an_input(folder):
    before = contents(folder)
    with open(folder / "data.txt") as stdin:
        done = subprocess.run([BINARY, "score", "model.h5", "-", "-o", "data.txt"], cwd=folder, stdin=stdin, stderr=subprocess.PIPE)
    assert done.returncode == USAGE and b"would overwrite DATA (stdin)" in done.stderr
    assert contents(folder) == before


@pytest.mark.parametrize("name", RUN_FILES)
def test_a_run_keeps_its_own_files(folder, name):
    """New or old, there already or not."""
    before = contents(folder)
    fails(USAGE, "train", "data.txt", "--run", "new", "-o", f"new/{name}", *SHORT, cwd=folder, says=["--run and -o", name])
    fails(USAGE, "train", "--resume", "run", "-o", f"./run/{name}", cwd=folder, says=["-o", "would overwrite the run's", name])
    fails(USAGE, "inspect", "run", "-o", f"run/{name}", cwd=folder, says=["-o", "would overwrite the run's", name])
    (folder / "link").symlink_to(folder / "run" / name)
    fails(USAGE, "train", "--resume", "run", "-o", "link", cwd=folder, says=["would overwrite the run's", name])
    (folder / "link").unlink()
    assert contents(folder) == before and not (folder / "new").exists()


def test_a_run_s_model_is_its_own(folder):
    assert hqmm("train", "data.txt", "--run", "new", "-o", "new/model.h5", *SHORT, cwd=folder).returncode == OK
    assert hqmm("train", "--resume", "new", "-o", "new/model.h5", cwd=folder).returncode == OK
    fails(USAGE, "inspect", "new", "-o", "new/model.h5", cwd=folder, says="would overwrite the run's model")


def test_a_run_takes_no_input_s_place(folder):
    (folder / "new").mkdir()
    (folder / "data.txt").rename(folder / "new" / "history.jsonl")
    before = contents(folder)
    fails(USAGE, "train", "new/history.jsonl", "--run", "new", *SHORT, cwd=folder, says=["--run", "would overwrite DATA"])
    (folder / "stationarity.json").write_bytes((folder / "new" / "history.jsonl").read_bytes())
    fails(USAGE, "train", "stationarity.json", "--stationarity", "-o", "m.h5", *SHORT, cwd=folder,
          says=["--stationarity", "would overwrite DATA"])
    assert {k: v for k, v in contents(folder).items() if k.parent != folder} == {k: v for k, v in before.items() if k.parent != folder}


@pytest.mark.parametrize("command, says", [
    ("inspect model.h5 -o x --figure x", "-o and --figure"),
    ("inspect model.h5 -o x --figure ./run/../x", "-o and --figure"),
    ("classify cross-validate labelled.txt --report x --predictions x", "--report and --predictions"),
    ("select data.txt -n 1 -w 1 --models run -o run/n1-w1.h5", "-o and --models"),
    ("reproduce all --quick -o out --write-docs out/report.md", "-o and --write-docs"),
])
def test_two_outputs_are_two_files(folder, command, says):
    before = contents(folder)
    fails(USAGE, *command.split(), cwd=folder, says=[says, "the same file"])
    assert contents(folder) == before


def test_models_of_a_grid_take_no_input_s_place(folder):
    (folder / "grid").mkdir()
    (folder / "grid" / "n1-w1.h5").write_bytes((folder / "data.txt").read_bytes())
    before = contents(folder)
    fails(USAGE, *"select grid/n1-w1.h5 -n 1 -w 1 --models grid".split(), cwd=folder, says=["--models", "would overwrite DATA"])
    assert contents(folder) == before


def test_published_data_is_not_overwritten(folder):
    (folder / "splice.data").write_text("x")
    fails(USAGE, *"reproduce splice --quick --data . -o out --write-docs splice.data".split(), cwd=folder,
          says=["--write-docs", "would overwrite the splice data"])
    assert (folder / "splice.data").read_text() == "x" and not (folder / "out").exists()


def test_devices_and_pipes_may_be_both(folder):
    assert hqmm("inspect", "model.h5", "-o", "/dev/null", "--figure", "/dev/null", cwd=folder).returncode == OK
    done = hqmm("sample", "/dev/stdin", "--count", 1, "--length", 3, "-o", "/dev/stdout", cwd=folder,
                stdin=(folder / "model.h5").read_bytes())
    assert done.returncode in (OK, 66) and done.stderr.count("overwrite") == 0
    done = hqmm("predict", "model.h5", "-", "-o", "/dev/stdout", cwd=folder, stdin="0 1 ")
    assert done.returncode == OK and len(done.stdout.splitlines()) == 2


# Outputs that are long

def predicting(folder, *args):
    return subprocess.Popen([BINARY, "predict", "model.h5", *args], cwd=folder, stdin=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def feed(process, text):
    """Writes to stdin and returns when all of it was read."""
    process.stdin.write(text)
    process.stdin.flush()
    while process.poll() is None:
        left = fcntl.ioctl(process.stdin, termios.FIONREAD, struct.pack("i", 0))
        if struct.unpack("i", left)[0] == 0:
            return
        time.sleep(0.001)


def most_memory(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024


@pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")), reason="skipped: a sanitizer keeps memory that was given back")
def test_predictions_for_a_file_do_not_pile_up_in_memory(folder):
    process = predicting(folder, "-o", "p.txt")
    feed(process, b"0 1 " * 1000)
    before = most_memory(process)
    for _ in range(50):
        feed(process, b"0 1 1 0 " * 5000)
    grown = most_memory(process) - before
    process.communicate(timeout=60)
    size = (folder / "p.txt").stat().st_size
    assert process.returncode == OK and size > 32 << 20 and grown < size / 4, (size, grown)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_the_old_file(folder, how):
    (folder / "p.txt").write_text("old")
    before = contents(folder)
    process = predicting(folder, "-o", "p.txt")
    feed(process, b"0 1 " * 50000)  # more than is written at once
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert contents(folder) == before


def test_a_bad_symbol_leaves_the_old_file(folder):
    (folder / "p.txt").write_text("old")
    before = contents(folder)
    fails(65, "predict", "model.h5", "-o", "p.txt", cwd=folder, stdin="0 1 0 9", says="symbol 9")
    assert contents(folder) == before
