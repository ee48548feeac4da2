import json
import signal
import subprocess

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, BINARY, OK, USAGE, fails, hqmm, random_kraus, wait_until_caught, write_hqmm

INTERRUPTED = 130


def filtered(kraus, symbols, steps):
    """Distribution of the symbol `steps` ahead after every prefix, by the definition."""
    n = kraus.shape[-1]
    rho = np.eye(n) / n
    total = lambda r: sum(k @ r @ k.conj().T for k in kraus.reshape(-1, n, n))
    for y in symbols:
        rho = sum(k @ rho @ k.conj().T for k in kraus[y])
        rho = rho / np.trace(rho)
        ahead = rho
        for _ in range(steps - 1):
            ahead = total(ahead)
        yield [sum(np.trace(k @ ahead @ k.conj().T) for k in ks).real for ks in kraus]


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_one_line_per_symbol_with_the_right_distribution(tmp_path, steps):
    kraus = random_kraus(3, 2, 2, seed=1)
    model = write_hqmm(tmp_path / "m.h5", kraus)
    symbols = [0, 2, 1, 1, 0]
    done = hqmm("predict", model, "-", "--steps", steps, stdin=" ".join(map(str, symbols)))
    got = [[float(p) for p in line.split()] for line in done.stdout.splitlines()]
    np.testing.assert_allclose(got, list(filtered(kraus, symbols, steps)), atol=1e-12)


def test_newline_starts_afresh_and_file_equals_stream(model, tmp_path):
    text = "0 1\n0 1\n"
    (tmp_path / "d.txt").write_text(text)
    stream = hqmm("predict", model, stdin=text).stdout
    lines = stream.splitlines()
    assert lines[:2] == lines[2:]
    assert hqmm("predict", model, tmp_path / "d.txt").stdout == stream


def test_answers_before_the_stream_ends(model):
    process = subprocess.Popen([BINARY, "predict", str(model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        for symbol in (b"0 ", b"2 ", b"1 "):
            process.stdin.write(symbol)
            process.stdin.flush()
            line = process.stdout.readline()  # blocks for ever if the output is not flushed
            assert sum(map(float, line.split())) == pytest.approx(1.0, abs=1e-12)
    finally:
        process.stdin.close()
        assert process.wait(timeout=20) == OK


def test_json_is_one_document(model):
    done = hqmm("predict", model, "--json", stdin="0 1 2")
    document = json.loads(done.stdout)
    only, = document["sequences"]
    assert len(only["predictions"]) == only["symbols"] == 3 and document["alphabet"] == ["0", "1", "2"]
    assert "name" not in only and document["steps"] == 1
    two = json.loads(hqmm("predict", model, "--json", stdin="0 1 2\n2\n").stdout)["sequences"]
    assert [one["symbols"] for one in two] == [3, 1]
    assert json.loads(hqmm("predict", model, "--json", stdin="").stdout)["sequences"] == []


def test_bad_symbol_names_its_place_and_keeps_what_came_before(model):
    done = fails(BAD_DATA, "predict", model, stdin="0 1\n2 7 0", says=["stdin:2:3", "symbol 7", "0..2"])
    assert len(done.stdout.splitlines()) == 3


def test_steps_must_be_positive(model):
    fails(USAGE, "predict", model, "--steps", 0, stdin="0")


def test_infeasible_model_predicts_normalised(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", 1.3 * random_kraus(3, 1, 2))
    done = hqmm("predict", model, stdin="0 1")
    assert "not trace preserving" in done.stderr
    for line in done.stdout.splitlines():
        assert sum(map(float, line.split())) == pytest.approx(1.0, abs=1e-12)


def named_model(path, kraus, tokens):
    write_hqmm(path, kraus)
    with h5py.File(path, "a") as f:
        f["alphabet"] = tokens
    return path


# Records

@pytest.fixture
def dna(tmp_path):
    """A model, two records, and the same symbols as lines of text."""
    model = named_model(tmp_path / "dna.h5", random_kraus(4, 2, 2, seed=3), ["A", "C", "G", "T"])
    (tmp_path / "two.fa").write_text(">first a comment\nACG\n>second\nTTAN\n")
    return model, tmp_path / "two.fa", "ACG\nTTAN\n"


def test_records_keep_their_names_and_bounds(dna):
    model, fasta, text = dna
    lines = hqmm("predict", model, fasta).stdout.splitlines()
    assert [at for at, line in enumerate(lines) if line.startswith("#")] == [0, 4]
    assert lines[0].startswith("# first") and lines[4] == "# second"
    plain = hqmm("predict", model, stdin=text).stdout.splitlines()
    assert [line for line in lines if not line.startswith("#")] == plain
    for args, stdin in ((["-", "--format", "fasta"], fasta.read_bytes()), ([fasta], None)):
        first, second = json.loads(hqmm("predict", model, *args, "--json", stdin=stdin).stdout)["sequences"]
        assert first["name"].startswith("first") and second["name"] == "second"
        assert (first["symbols"], second["symbols"]) == (3, 4)
        rows = first["predictions"] + second["predictions"]
        np.testing.assert_allclose(rows, [[float(p) for p in line.split()] for line in plain], rtol=1e-15)


# Surprise

def surprises(kraus, symbols):
    """Bits of every symbol, by the definition."""
    n = kraus.shape[-1]
    before = [[sum(np.trace(k @ k.conj().T) for k in ks).real / n for ks in kraus]]
    before += list(filtered(kraus, symbols, 1))
    return [-np.log2(p[y]) for p, y in zip(before, symbols)]


@pytest.fixture
def told(tmp_path):
    """A model that can say its symbols by name, symbols, and what each costs."""
    kraus = random_kraus(3, 2, 2, seed=5)
    model = named_model(tmp_path / "told.h5", kraus, ["open", "read", "close"])
    symbols = [0, 1, 1, 2, 0, 2, 2, 1, 0, 1, 0, 0, 2]
    return model, [("open", "read", "close")[y] for y in symbols], surprises(kraus, symbols)


def means(bits, window):
    return [sum(bits[t + 1 - window:t + 1]) / window if t + 1 >= window else None for t in range(len(bits))]


@pytest.mark.parametrize("window", [1, 4])
def test_a_window_gives_the_mean_surprise(told, window):
    model, words, bits = told
    lines = hqmm("predict", model, "--window", window, stdin=" ".join(words)).stdout.splitlines()
    wanted = [np.nan if mean is None else mean for mean in means(bits, window)]
    np.testing.assert_allclose([float(line) for line in lines], wanted, rtol=1e-9)
    found, = json.loads(hqmm("predict", model, "--window", window, "--json", stdin=" ".join(words)).stdout)["sequences"]
    assert found["surprise"] == [None if mean is None else pytest.approx(mean) for mean in means(bits, window)]


def alarms_of(bits, window, threshold):
    """What the report should say: beginnings and worst places of the stretches above the threshold."""
    out, worst = [], None
    for t, mean in enumerate(means(bits, window) + [None]):
        if mean is not None and mean > threshold:
            if worst is None:
                out.append(("alarm", t, mean))
            worst = max(worst or (mean, -t), (mean, -t))
        elif worst is not None:
            out.append(("over", -worst[1], worst[0]))
            worst = None
    return out


@pytest.mark.parametrize("window", [1, 3])
def test_alarms_are_where_the_mean_is_above_the_threshold(told, tmp_path, window):
    model, words, bits = told
    known = [mean for mean in means(bits, window) if mean is not None]
    for threshold in np.quantile(known, [0.0, 0.5, 0.9]) + 1e-6:
        wanted = alarms_of(bits, window, threshold)
        got = [line.split("\t") for line in
               hqmm("predict", model, "--window", window, "--alarm", threshold, stdin=" ".join(words)).stdout.splitlines()]
        assert [(what, int(at)) for what, _, at, _, _ in got] == [(what, at) for what, at, _ in wanted]
        assert all(float(line[3]) == pytest.approx(bit, abs=5e-4) for line, (_, _, bit) in zip(got, wanted))
        assert all(line[1] == "0" and line[4] == words[int(line[2])] for line in got)
        report = json.loads(hqmm("predict", model, "--window", window, "--alarm", threshold, "--json",
                                 stdin=" ".join(words)).stdout)
        only, = report["sequences"]
        assert [(one["from"], one["worst_at"]) for one in only["alarms"]] == [
            (a[1], o[1]) for a, o in zip(wanted[::2], wanted[1::2])]
        assert (report["window"], only["symbols"]) == (window, len(words))


def test_nothing_is_said_where_nothing_is_wrong(told):
    model, words, _ = told
    done = hqmm("predict", model, "--alarm", 50, "--window", 2, stdin=" ".join(words))
    assert (done.returncode, done.stdout, done.stderr) == (OK, "", "")


def test_unknown_symbols_are_surprising_and_no_error(told, tmp_path):
    model, words, bits = told
    log = tmp_path / "log"
    log.write_text("open read exec read\n")
    for args, stdin in ((["-"], log.read_text()), ([log], None)):
        assert hqmm("predict", model, *args, "--alarm", 30, "--window", 1, stdin=stdin).stdout.splitlines() == [
            "alarm\t0\t2\tinf\texec", "over\t0\t2\tinf\texec"]
    fails(BAD_DATA, "predict", model, stdin="open exec", says="'exec'")  # of what comes next there is nothing to say


def test_windows_stay_within_sequences_and_short_ones_are_judged_whole(told):
    model, words, bits = told
    short = " ".join(words[:2])
    threshold = sum(bits[:2]) / 2
    text = f"{short}\n{short}\n"
    loud = hqmm("predict", model, "--alarm", threshold - 1e-6, "--window", 3, stdin=text).stdout.splitlines()
    assert [line.split("\t")[:3] for line in loud] == [[what, str(i), "1"] for i in range(2) for what in ("alarm", "over")]
    assert hqmm("predict", model, "--alarm", threshold + 1e-6, "--window", 3, stdin=text).stdout == ""


def test_alarms_in_records_have_their_names(dna):
    model, fasta, _ = dna
    got = hqmm("predict", model, fasta, "--alarm", 0.001, "--window", 2).stdout.splitlines()
    assert {line.split("\t")[1].split()[0] for line in got} == {"first", "second"}


def test_joined_lines_are_one_sequence(told, tmp_path):
    model, words, _ = told
    log = tmp_path / "log"
    log.write_text("".join(word + "\n" for word in words))
    whole = hqmm("predict", model, stdin=" ".join(words)).stdout
    assert hqmm("predict", model, log, "--join-lines").stdout == whole
    assert hqmm("predict", model, "--join-lines", stdin=log.read_text()).stdout == whole
    assert hqmm("predict", model, log).stdout != whole


# A log that grows

def followed(model, log, *args, stdout=subprocess.PIPE):
    return subprocess.Popen([BINARY, "predict", str(model), str(log), "--follow", *map(str, args)],
                            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)


def test_follows_a_log_that_grows_is_cut_and_is_rotated(told, tmp_path):
    model, words, _ = told
    answers = hqmm("predict", model, stdin=" ".join(words)).stdout.splitlines(keepends=True)
    log = tmp_path / "log"
    log.write_text(words[0] + "\n")
    process = followed(model, log, "--join-lines")

    def expect(wanted):
        for line in wanted:
            assert process.stdout.readline().decode() == line  # blocks until it is there

    expect(answers[:1])
    with log.open("a") as out:
        for word in words[1:6]:
            out.write(word + "\n")
            out.flush()
    expect(answers[1:6])
    log.write_text("")  # cut off; what is written next is shorter than what was read
    with log.open("a") as out:
        out.write(words[0] + "\n")
    expect(answers[:1])
    log.rename(tmp_path / "log.1")
    log.write_text(words[0] + "\n" + words[1] + "\n")
    expect(answers[:2])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED and out == b""
    assert err.decode().splitlines() == [f"hqmm: {log} is read from its start again"] * 2 + ["hqmm: error: interrupted after 9 symbols"]


def test_an_interrupt_ends_the_document(told, tmp_path):
    model, words, _ = told
    log = tmp_path / "log"
    log.write_text(" ".join(words) + " ")
    process = followed(model, log, "--alarm", 0.001, "--window", 1, "--json", "--quiet")
    wait_until_caught(process, signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED and b"interrupted after " in err
    assert json.loads(out)["window"] == 1


def test_following_ends_with_its_reader(told, tmp_path):
    model, words, _ = told
    log = tmp_path / "log"
    log.write_text(words[0] + " ")
    process = followed(model, log)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == -signal.SIGPIPE  # nothing more was written: it looks


def test_a_pipe_is_followed_to_its_end(told):
    model, words, _ = told
    text = " ".join(words)
    assert hqmm("predict", model, "--follow", stdin=text).stdout == hqmm("predict", model, stdin=text).stdout


def test_flags_that_do_not_go_together(told, dna, tmp_path):
    model = told[0]
    fails(USAGE, "predict", model, "--alarm", 1, "--steps", 2, stdin="open", says=["--steps", "--alarm"])
    fails(USAGE, "predict", model, "--follow", "-o", tmp_path / "x", stdin="open", says=["-o", "--follow"])
    fails(USAGE, "predict", model, "--follow", "--format", "fasta", stdin="open", says="--follow reads text")
    fails(USAGE, "predict", model, "--alarm", 0, stdin="open", says="--alarm")
    fails(USAGE, "predict", dna[0], dna[1], "--join-lines", says=["--join-lines", "fasta"])
    fails(66, "predict", model, tmp_path / "none", "--follow", says="no such file")
