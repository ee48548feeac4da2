"""hqmm train: learners, options, what it prints, data that leaves little to learn."""

import json
import os
import re
import signal
import subprocess

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, BINARY, CANNOT_WRITE, NO_INPUT, OK, USAGE, fails, hqmm, hqmm_json, on_terminal, random_kraus, wait_until_busy, wait_until_caught, write_hqmm

DIVERGED, INTERRUPTED = 3, 130
LEARNERS = ["ns-ris", "cosm", "givens", "em"]
SMALL = ["-n", 2, "-w", 1, "--epochs", 3]
QUICK = [*SMALL, "--restarts", 2]


@pytest.fixture(scope="session")
def benchmark(tmp_path_factory):
    """A small part of the Stern–Gerlach benchmark: train.txt and validation.txt."""
    folder = tmp_path_factory.mktemp("benchmark")
    hqmm("generate", "synthetic-hqmm", "-o", folder)
    for name, rows, length in (("train", 8, 150), ("validation", 4, 150)):
        path = folder / f"{name}.txt"
        lines = path.read_text().splitlines()[:rows]
        path.write_text("".join(" ".join(line.split()[:length]) + "\n" for line in lines))
    return folder


@pytest.fixture
def data(benchmark):
    return benchmark / "train.txt"


def train(data, out, *args, **kwargs):
    """Trains; the answer of --json."""
    return hqmm_json("train", data, "-o", out, "--quiet", *args, **kwargs)


def arrays(path):
    with h5py.File(path) as f:
        return {name: f[name][...] for name in f if name not in ("alphabet", "provenance")}


def assert_sound(path):
    """A model of finite numbers that adds up to one."""
    found = arrays(path)
    assert all(np.isfinite(a).all() for a in found.values())
    if "kraus" in found:
        gram = np.einsum("yqij,yqik->jk", found["kraus"].conj(), found["kraus"])
        np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-12)
        assert np.trace(found["initial_state"]).real == pytest.approx(1.0, abs=1e-12)
    else:
        np.testing.assert_allclose(found["transition"].sum(axis=0), 1.0, atol=1e-12)
        np.testing.assert_allclose(found["emission"].sum(axis=0), 1.0, atol=1e-12)


def provenance(path):
    with h5py.File(path) as f:
        return json.loads(f["provenance"].asstr()[()])


# It just works, and says what it did

def test_just_works(tmp_path, data):
    done = hqmm("train", data, "-o", tmp_path / "m.h5")
    assert done.returncode == OK
    assert "held out for validation" in done.stderr and "n = 4, w = 2, s = 6" in done.stderr
    assert "description accuracy" in done.stdout and re.search(r"ran all 60 epochs in [0-9.]+ seconds; the best was epoch \d+\n", done.stdout)
    assert_sound(tmp_path / "m.h5")
    score = hqmm_json("score", tmp_path / "m.h5", data)
    assert score["da_mean"] > 0.05
    assert hqmm("train", "--help").returncode == OK


def test_json_has_the_keys_of_the_contract(tmp_path, benchmark, data):
    done = hqmm("train", data, "--validation", benchmark / "validation.txt", *SMALL, "-o", tmp_path / "m.h5", "--json")
    out = json.loads(done.stdout)
    assert {"model", "learner", "epochs_run", "best_epoch", "train", "validation", "feasibility_residual",
            "status", "seconds"} <= set(out)
    assert (out["model"], out["learner"], out["epochs_run"]) == (str(tmp_path / "m.h5"), "ns-ris", 3)
    assert out["status"] == "max-epochs" and out["feasible"] is True and out["feasibility_residual"] < 1e-12
    for part in ("train", "validation"):
        again = hqmm_json("score", tmp_path / "m.h5", benchmark / f"{part}.txt")
        assert out[part]["log_likelihood"] == pytest.approx(again["log_likelihood"], rel=1e-12)
        assert out[part]["symbols"] == again["symbols"] and out[part]["raw"] is None
    assert "held out" not in done.stderr


def test_pipes_get_no_progress(tmp_path, data):
    done = hqmm("train", data, *SMALL, "-o", tmp_path / "m.h5", "--run", tmp_path / "run")
    assert "\r" not in done.stderr and "\x1b" not in done.stderr and "epoch 1" not in done.stderr
    done = hqmm("train", data, *SMALL, "-o", tmp_path / "m.h5", "--quiet", "--json")
    assert done.stderr == ""


def sparkline(values, most=16):
    """What the progress line draws: means of 1, 2, 4, … neighbours, in eight heights."""
    stride = 1
    while -(-len(values) // stride) > 16:
        stride *= 2
    bins = [values[i:i + stride] for i in range(0, len(values), stride)][-most:]
    means = [sum(b) / len(b) for b in bins]
    low, span = min(means), max(means) - min(means)
    return "".join("▁▂▃▄▅▆▇█"[int((m - low) / span * 7 + 0.5) if span else 0] for m in means)


UTF8 = {"LC_ALL": "", "LC_CTYPE": "", "LANG": "C.UTF-8"}


@pytest.mark.parametrize("epochs", [3, 16, 17, 70])
def test_the_progress_line_draws_the_validation(tmp_path, data, epochs):
    words = ["train", data, "-n", 2, "-w", 1, "--epochs", epochs, "--restarts", 2, "--run", tmp_path / "run"]
    code, seen = on_terminal(*words, **UTF8)
    assert code == OK
    lines = [json.loads(line) for line in (tmp_path / "run" / "history.jsonl").read_text().splitlines()]
    bits = [-one["validation"]["log_likelihood"] / one["validation"]["symbols"] for one in lines
            if one["restart"] == 1 and one["epoch"] > 0]
    shown = seen.split("\r\x1b[K")
    for epoch in sorted({1, 2, epochs}):
        (line,) = [text for text in shown if text.startswith(f"restart 2/2 epoch {epoch}/")]
        drawn = sparkline(bits[:epoch])
        assert re.search(r" left(?:  ([▁-█]+))?$", line)[1] == drawn and len(drawn) <= 16
    (start,) = [text for text in shown if text.startswith("restart 2/2 epoch 0/")]
    assert start.endswith(" left"), "the start is not drawn, nor the restart before it"


def test_the_progress_line_draws_where_its_characters_are_shown(tmp_path, data):
    words = ["train", data, "-n", 2, "-w", 1, "--epochs", 20, "-o", tmp_path / "m.h5"]
    for name, value in (("LANG", "C"), ("LANG", ""), ("LANG", "de_DE.ISO-8859-1"), ("LC_CTYPE", "POSIX"), ("LC_ALL", "C")):
        code, seen = on_terminal(*words, **{**UTF8, name: value})
        assert code == OK and "epoch 3/" in seen and not re.search("[▁-█]", seen), (name, value)
    for name, value in (("LANG", "de_DE.utf8"), ("LC_ALL", "en_GB.UTF-8")):
        assert re.search("[▁-█]{3}", on_terminal(*words, **{**UTF8, name: value})[1])
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, env={**os.environ, **UTF8}, check=True)
    assert not re.search("[▁-█]", (done.stdout + done.stderr).decode()), "a pipe has no line of progress"
    for columns in (30, 60, 72, 100):
        lines = on_terminal(*words, columns=columns, **UTF8)[1].split("\r\x1b[K")[1:]
        shown = [line for line in lines if line.startswith("epoch ")]
        assert shown and max(map(len, shown)) <= columns - 1, "no line wraps"
        assert any(re.search("[▁-█]", line) for line in shown) == (columns > 70)


def test_terminals_get_a_progress_line(tmp_path, data):
    code, seen = on_terminal("train", data, *QUICK, "-o", tmp_path / "m.h5")
    assert code == OK
    assert re.search(r"restart 2/2 epoch 2/3  validation DA -?\d\.\d+  best -?\d\.\d+  \d+:\d\d left", seen)
    assert seen.endswith("\r\x1b[K")  # nothing of it stays
    code, seen = on_terminal("train", data, *SMALL, "-o", tmp_path / "m.h5", "--quiet")
    assert (code, seen) == (OK, "")
    code, seen = on_terminal("train", data, "-n", 2, "--learner", "em", "-o", tmp_path / "m.h5")
    assert code == OK and re.search(r"restart 16/16 epoch \d+/600 .* 0:0\d left", seen)
    # an error does not run into the line
    code, seen = on_terminal("train", data, *SMALL, "-o", tmp_path / "m.h5", "--run", "/dev/null/x")
    assert code == CANNOT_WRITE and seen.startswith("hqmm: error: ")


def test_a_model_worse_than_guessing_is_doubted(tmp_path):
    """Symbols without any order, and a step that is far too long to see that."""
    import random
    rng = random.Random(1)
    noise = tmp_path / "noise.txt"
    noise.write_text("".join(" ".join(str(rng.randrange(4)) for _ in range(100)) + "\n" for _ in range(60)))
    bad = ["-n", 4, "--epochs", 2, "--quiet", "--average", 0, "--schedule", "constant", "--step-size", 2]
    done = hqmm("train", noise, "-o", tmp_path / "m.h5", *bad, "-w", 1, "--seed", 3)
    found = re.fullmatch(r"hqmm: warning: the model is worse than guessing: ([\d.]+) bits per symbol on validation data, "
                         r"where guessing takes 2\.0000 and the frequencies ([\d.]+); try -w 2, (.*), more data\n",
                         done.stderr)
    assert done.returncode == OK and found, done.stderr
    assert float(found[1]) > float(found[2]) > 1.9 and ("step" in found[3] or "epochs" in found[3])
    # what is as good as it gets is not doubted: there is nothing to find
    assert hqmm("train", noise, "-o", tmp_path / "m.h5", "-n", 2, "-w", 1, "--epochs", 20, "--quiet").stderr == ""


def test_a_model_worse_than_the_frequencies_is_doubted(tmp_path):
    skewed = tmp_path / "skewed.txt"
    skewed.write_text(("0 " * 40 + "1\n" + "0 " * 41 + "\n") * 40)
    args = ["train", skewed, "-o", tmp_path / "m.h5", "-n", 2, "-w", 1, "--quiet"]
    done = hqmm(*args, "--epochs", 1, "--step-size", 1e-6)
    assert "hqmm: warning: the model is worse than the frequencies of the symbols alone: " in done.stderr
    assert "more epochs (--epochs 4)" in done.stderr and done.stderr.count("\n") == 1
    assert hqmm(*args, "--epochs", 40).stderr == ""


def test_formats_and_stdin(tmp_path, data):
    train(data, tmp_path / "a.h5", *SMALL)
    train("-", tmp_path / "b.h5", *SMALL, stdin=data.read_text())
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
    train(data, tmp_path / "c.json", *SMALL)
    assert hqmm("convert", tmp_path / "c.json", tmp_path / "c.h5").returncode == OK
    assert arrays(tmp_path / "c.h5")["kraus"].tobytes() == arrays(tmp_path / "a.h5")["kraus"].tobytes()


# Same seed, same bytes

@pytest.mark.parametrize("learner", LEARNERS)
def test_bytes_depend_on_the_seed_alone(tmp_path, data, learner):
    args = [*QUICK, "--learner", learner]
    (tmp_path / "elsewhere").mkdir()
    train(data, tmp_path / "one.h5", *args, "--threads", 1)
    train(os.path.relpath(data, tmp_path / "elsewhere"), "two.h5", *args, "--threads", 2, "--run", "run",
          cwd=tmp_path / "elsewhere")
    train(data, tmp_path / "other.h5", *args, "--seed", 2)
    one = (tmp_path / "one.h5").read_bytes()
    assert one == (tmp_path / "elsewhere" / "two.h5").read_bytes()
    assert one != (tmp_path / "other.h5").read_bytes()


def test_provenance_says_how_but_not_where(tmp_path, data):
    train(data, tmp_path / "m.h5", *SMALL, "--seed", 5)
    found = provenance(tmp_path / "m.h5")
    assert found["seed"] == 5 and found["options"]["latent_dim"] == 2 and found["status"] == "max-epochs"
    assert len(found["data"]["train_hash"]) == 16 and found["validation"]["da_mean"] is not None
    assert str(tmp_path) not in json.dumps(found)


# Options

@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_improve_on_their_start(tmp_path, benchmark, data, learner):
    args = ["--validation", benchmark / "validation.txt", "-n", 2, "-w", 1, "--learner", learner, "--restarts", 2]
    start = train(data, tmp_path / "m.h5", *args, "--epochs", 0)
    assert (start["epochs_run"], start["best_epoch"]) == (0, 0)
    end = train(data, tmp_path / "m.h5", *args, "--epochs", 12)
    assert end["validation"]["log_likelihood"] > start["validation"]["log_likelihood"]
    assert_sound(tmp_path / "m.h5")
    assert set(arrays(tmp_path / "m.h5")) >= ({"transition"} if learner == "em" else {"kraus"})


@pytest.mark.parametrize("args", [
    ["--schedule", "cosine"], ["--schedule", "geometric", "--step-decay", 0.5], ["--schedule", "constant"],
    ["--initial-state", "uniform"], ["--initial-state", "random"], ["--initial-state", "learned"],
    ["--initial-state", "learned", "--learner", "cosm"],
    ["--preset", "paper", "--burn-in", 10, "--validation-burn-in", 20],
    ["--preset", "paper", "--learner", "cosm", "--burn-in", 10, "--validation-burn-in", 20],
    ["--ns-steps", 1], ["--ns-steps", 20], ["--average", 0], ["--average", 0.5], ["--momentum", 0], ["--batch-size", 100],
    ["--chunk-length", 50, "--burn-in", 10, "--validation-burn-in", 5], ["--stop-gradient-at-burn-in", "--burn-in", 20],
    ["--chunk-length", "auto", "--burn-in", "auto", "--validation-burn-in", "auto"], ["--chunk-length", 0],
    ["--learner", "givens", "--givens-pairs", 2, "--givens-evaluations", 5],
], ids=lambda args: " ".join(map(str, args)))
def test_options_are_taken(tmp_path, data, args):
    train(data, tmp_path / "m.h5", *SMALL, *args)
    assert_sound(tmp_path / "m.h5")
    assert provenance(tmp_path / "m.h5")["options"]["epochs"] == 3


def test_pure_initial_states_stay_pure(tmp_path, data):
    train(data, tmp_path / "m.h5", "-n", 3, "-w", 1, "--epochs", 3, "--initial-state", "pure")
    values = np.linalg.eigvalsh(arrays(tmp_path / "m.h5")["initial_state"])
    np.testing.assert_allclose(values, [0, 0, 1], atol=1e-12)


def test_the_paper_preset_knows_tuned_values_and_yields_to_flags(tmp_path, data):
    args = [*SMALL, "--preset", "paper", "--learner", "cosm", "--burn-in", 10, "--validation-burn-in", 0]
    train(data, tmp_path / "m.h5", *args)
    options = provenance(tmp_path / "m.h5")["options"]
    assert (options["step_size"], options["step_decay"], options["batch_size"]) == (0.95, 0.99, 20)
    assert (options["schedule"], options["burn_in"], options["epochs"]) == ("geometric", 10, 3)


def test_restarts_keep_every_score(tmp_path, data):
    out = train(data, tmp_path / "m.h5", *SMALL, "--restarts", 4)
    scores = [one["best_validation_log_likelihood"] for one in out["restarts"]]
    assert len(set(scores)) == 4 and out["best_restart"] == int(np.argmax(scores))
    assert out["validation"]["log_likelihood"] == pytest.approx(max(scores), rel=1e-12)


def test_auto_cuts_long_sequences(tmp_path, data):
    symbols = data.read_text().split()
    text = "\n".join(" ".join(symbols[i:i + 601]) for i in (0, 599))
    done = hqmm("train", "-", *SMALL, "-o", tmp_path / "m.h5", stdin=text)
    assert "in chunks of 300 with a burn-in of 20" in done.stderr and "burn-in of 200" in done.stderr


def test_training_sequences_shorter_than_the_validation_burn_in_have_a_score(tmp_path, benchmark, data):
    long = tmp_path / "long.txt"
    long.write_text(" ".join((benchmark / "validation.txt").read_text().split()))
    out = train(data, tmp_path / "m.h5", *SMALL, "--validation", long, "--validation-burn-in", 200)
    assert out["validation"]["symbols"] == 400 and out["train"]["symbols"] == 8 * 150


def test_warm_starts(tmp_path, benchmark, data):
    validation = ["--validation", benchmark / "validation.txt"]
    hmm = train(data, tmp_path / "em.h5", *validation, "-n", 2, "--learner", "em")
    # from EM learned first, and from that very model: n, and w = n, come with it
    for warm, sizes in (("em", ["-n", 2]), (tmp_path / "em.h5", [])):
        out = train(data, tmp_path / "m.h5", *validation, *sizes, "--epochs", 2, "--warm-start", warm)
        assert arrays(tmp_path / "m.h5")["kraus"].shape == (6, 2, 2, 2)
        assert out["validation"]["log_likelihood"] >= hmm["validation"]["log_likelihood"] * (1 + 1e-12)
    kept = train(data, tmp_path / "m.h5", *validation, "--epochs", 0, "--warm-start", tmp_path / "em.h5")
    assert kept["validation"]["log_likelihood"] == pytest.approx(hmm["validation"]["log_likelihood"], rel=1e-12)
    # from an HQMM
    write_hqmm(tmp_path / "q.h5", random_kraus(6, 3, 2))
    train(data, tmp_path / "m.h5", "--epochs", 1, "--warm-start", tmp_path / "q.h5")
    assert arrays(tmp_path / "m.h5")["kraus"].shape == (6, 3, 2, 2)
    quiet = ["train", data, "-o", tmp_path / "x.h5", "--quiet", "--warm-start"]
    fails(USAGE, *quiet, tmp_path / "q.h5", "-n", 3, says=["n = 2", "n = 3"])
    fails(USAGE, *quiet, tmp_path / "q.h5", "--learner", "em", says="HQMM")
    fails(USAGE, *quiet, write_hqmm(tmp_path / "q.h5", random_kraus(4, 1, 2)), says="alphabet")
    fails(NO_INPUT, *quiet, tmp_path / "none.h5", says="none.h5")
    fails(BAD_DATA, *quiet, data, says="train.txt")


@pytest.mark.parametrize("args, says", [
    (["--momentum", 1.5], ["--momentum", "[0, 1)"]),
    (["--retraction", "literal", "--average", 0.9], ["--average", "literal"]),
    (["--retraction", "literal", "--learner", "cosm"], ["ns-ris", "cosm"]),
    (["-n", 0], ["--latent-dim"]), (["-w", 0], ["--kraus-rank"]), (["-n", "two"], ["--latent-dim"]),
    (["--step-decay", 2], ["--step-decay", "(0, 1]"]), (["--step-size", -1], ["--step-size"]),
    (["--step-size", "nan"], ["--step-size"]), (["--step-size", "x"], ["--step-size"]),
    (["--chunk-length", 10, "--burn-in", 10], ["--burn-in 10", "10 symbols"]),
    (["--chunk-length", -1], ["--chunk-length"]), (["--burn-in", "some"], ["--burn-in"]),
    (["--learner", "adam"], ["--learner", "ns-ris", "adam"]), (["--schedule", "step"], ["--schedule"]),
    (["--initial-state", "zero"], ["--initial-state"]), (["--preset", "mine"], ["--preset"]),
    (["--retraction", "svd"], ["--retraction"]), (["--restarts", 0], ["--restarts"]),
    (["--epochs", -1], ["--epochs"]), (["--batch-size", 0], ["--batch-size"]), (["--ns-steps", 0], ["--ns-steps"]),
    (["--average", 1], ["--average"]), (["--tolerance", -1], ["--tolerance"]), (["--time-limit", -1], ["--time-limit"]),
    (["--validation-share", 1], ["--validation-share"]), (["--validation-share", "nan"], ["share"]),
    (["--stationarity", "--learner", "em"], ["--stationarity", "ns-ris"]),
    (["--stationarity", "--schedule", "cosine"], ["constant step size"]),
    (["--stationarity", "--restarts", 2], ["--restarts 1"]),
    (["--stationarity", "--initial-state", "learned"], ["--initial-state"]),
    (["--stepsize", 1], ["--stepsize", "--step-size"]),
], ids=lambda value: " ".join(map(str, value)))
def test_wrong_values_are_wrong_usage(tmp_path, data, args, says):
    fails(USAGE, "train", data, "-o", tmp_path / "m.h5", "--run", tmp_path / "run", "--quiet", *args, says=says)
    assert list(tmp_path.iterdir()) == []  # the place is free for the corrected command


def test_what_is_missing_is_said(tmp_path, data):
    fails(USAGE, "train", data, says="-o")
    fails(USAGE, "train", says="DATA")
    fails(USAGE, "train", "-", "--validation", "-", "-o", tmp_path / "m.h5", stdin="0 1", says="stdin")
    fails(USAGE, "train", "-", "--run", tmp_path / "run", stdin="0 1", says="--run")
    fails(NO_INPUT, "train", tmp_path / "none.txt", "-o", tmp_path / "m.h5", says="none.txt")
    fails(NO_INPUT, "train", data, "--validation", tmp_path / "none.txt", "-o", tmp_path / "m.h5", says="none.txt")
    fails(CANNOT_WRITE, "train", data, "-o", tmp_path / "no" / "m.h5", says="no folder")
    fails(CANNOT_WRITE, "train", data, "-o", tmp_path, says=str(tmp_path))
    (tmp_path / "mine.txt").write_text("0 1 0\n")
    fails(USAGE, "train", tmp_path / "mine.txt", "-o", tmp_path / "mine.txt", says="overwrite")
    fails(USAGE, "train", data, "--validation", tmp_path / "mine.txt", "-o", tmp_path / "mine.txt", says="overwrite")
    assert (tmp_path / "mine.txt").read_text() == "0 1 0\n"


# Stopping

def test_time_limit_and_patience(tmp_path, data):
    out = train(data, tmp_path / "m.h5", "-n", 2, "--epochs", 1000000, "--time-limit", 0.3)
    assert out["status"] == "time-limit" and out["epochs_run"] > 0 and out["seconds"] < 3
    assert_sound(tmp_path / "m.h5")
    out = train(data, tmp_path / "m.h5", "-n", 6, "--epochs", 1000, "--schedule", "constant", "--patience", 3)
    assert out["status"] == "converged" and out["epochs_run"] == out["best_epoch"] + 3
    out = train(data, tmp_path / "m.h5", "-n", 2, "--learner", "em", "--tolerance", 0.01)
    assert out["status"] == "converged" and out["epochs_run"] < 600


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_without_a_run_still_saves_the_best(tmp_path, data, how):
    process = subprocess.Popen([BINARY, "train", data, "-o", "m.h5", "--epochs", "1000000", "--json"],
                               cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while b"n = 4" not in process.stderr.readline():
        assert process.poll() is None
    wait_until_busy(process, 0.1)  # training
    process.send_signal(how)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert json.loads(stdout)["status"] == "interrupted"
    assert b"best model so far is in m.h5" in stderr
    assert_sound(tmp_path / "m.h5")


def test_interrupted_while_it_waits_for_data(tmp_path):
    process = subprocess.Popen([BINARY, "train", "-", "-o", tmp_path / "m.h5"], stdin=subprocess.PIPE)
    wait_until_caught(process, signal.SIGINT)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == INTERRUPTED
    process.stdin.close()


# The literal variant is run to the letter, and marked

def test_literal_is_marked_infeasible_wherever_it_is_shown(tmp_path, data):
    literal = ["train", data, "-o", tmp_path / "m.h5", "-n", 2, "-w", 2, "--epochs", 10, "--retraction", "literal"]
    done = hqmm(*literal)
    assert done.returncode == OK and "INFEASIBLE" in done.stdout and "raw" in done.stdout
    assert "warning" in done.stderr and "not trace preserving" in done.stderr
    out = hqmm_json(*literal)
    assert out["feasible"] is False and out["feasibility_residual"] > 1e-3
    for part in ("train", "validation"):
        assert out[part]["raw"]["da_mean"] > out[part]["da_mean"]
        assert out[part]["raw"]["log_likelihood"] > out[part]["log_likelihood"]
    assert hqmm_json("inspect", tmp_path / "m.h5")["feasible"] is False
    scored = hqmm("score", tmp_path / "m.h5", data)
    assert "not trace preserving" in scored.stderr and "raw" in scored.stdout


# Data that leaves little to learn

DEGENERATE = {
    "one symbol": "0 0 0 0 0\n0 0 0\n0 0 0 0\n",
    "one sequence": "0 1 0 1 1 0 1 0 1 1 0 0 1\n",
    "equal sequences": "0 1 0\n0 1 0\n",
    "length one": "0\n1\n0\n",
    "one symbol in all": "0\n",
    "mostly missing": "? ? ? 0\n? 1 ? ?\n0 ? ?\n",
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_trains(tmp_path, learner, name):
    out = train("-", tmp_path / "m.h5", *QUICK, "--learner", learner, stdin=DEGENERATE[name])
    assert out["status"] in ("max-epochs", "converged")
    assert_sound(tmp_path / "m.h5")


@pytest.mark.parametrize("learner", LEARNERS)
def test_symbols_that_never_occur(tmp_path, learner):
    (tmp_path / "v.txt").write_text("0 2 5\n")
    args = [*QUICK, "--learner", learner, "--validation", tmp_path / "v.txt"]
    train("-", tmp_path / "m.h5", *args, "--alphabet", 6, stdin="0 1 0 1\n1 1 0\n")
    assert_sound(tmp_path / "m.h5")
    fails(BAD_DATA, "train", "-", "-o", tmp_path / "x.h5", *args, stdin="0 1 0 1\n1 1 0\n",
          says=["v.txt:1:3", "outside the alphabet"])


@pytest.mark.parametrize("learner", LEARNERS)
def test_nothing_to_learn_from_is_said(tmp_path, learner):
    args = ["train", "-", "-o", tmp_path / "m.h5", "--quiet", *QUICK, "--learner", learner]
    fails(BAD_DATA, *args, stdin="? ?\n? ? ?\n", says="missing")
    fails(BAD_DATA, *args, "--alphabet", 2, stdin="? ?\n? ? ?\n", says="missing")
    fails(BAD_DATA, *args, "--validation-burn-in", 9, stdin="0 1 0\n1 0\n", says=["burn-in of 9", "has 3"])
    if learner != "em":  # it has no burn-in
        fails(BAD_DATA, *args, "--burn-in", 50, stdin="0 1 0\n1 0\n", says=["burn-in of 50", "--burn-in"])
    fails(BAD_DATA, *args, stdin="", says="no sequences")
    assert not (tmp_path / "m.h5").exists()


@pytest.mark.parametrize("args", [["--learner", "ns-ris"], ["--learner", "cosm"], ["--retraction", "literal"]],
                         ids=lambda args: args[1])
@pytest.mark.parametrize("step", [0, 1e-300, 1e6])
def test_absurd_step_sizes(tmp_path, data, args, step):
    done = hqmm("train", data, "-o", tmp_path / "m.h5", *SMALL, "--step-size", step, *args)
    assert done.returncode == OK, done.stderr
    assert all(np.isfinite(a).all() for a in arrays(tmp_path / "m.h5").values())
    if "literal" not in args:
        assert_sound(tmp_path / "m.h5")


def test_divergence_saves_what_was_best(tmp_path, data):
    done = hqmm("train", data, "-o", tmp_path / "m.h5", *SMALL, "--learner", "cosm", "--step-size", 1e300, "--json")
    assert done.returncode == DIVERGED and re.search(r"sequence \d+, symbol 0", done.stderr)
    assert json.loads(done.stdout)["status"] == "diverged"
    assert_sound(tmp_path / "m.h5")
