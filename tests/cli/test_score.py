import itertools
import json
import math

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, OK, fails, hqmm, hqmm_json, random_kraus, shared, write_hqmm


def golden_cases():
    path = shared("golden/hqmm_cases.json")
    return json.loads(path.read_text())


def complex_array(nested):
    array = np.asarray(nested)
    return array[..., 0] + 1j * array[..., 1]


@pytest.mark.parametrize("index", range(7))
def test_golden_cases_on_models_that_h5py_wrote(tmp_path, index):
    case = golden_cases()[index]
    model = write_hqmm(tmp_path / "m.h5", complex_array(case["kraus"]), complex_array(case["initial_state"]))
    text = " ".join(map(str, case["symbols"]))
    score = hqmm_json("score", model, "-", "--burn-in", case["burn_in"], stdin=text)
    assert score["log_likelihood"] == pytest.approx(case["log_likelihood"], rel=1e-12, abs=1e-12)
    assert score["symbols"] == len(case["symbols"]) - case["burn_in"]
    assert score["raw"] is None


@pytest.mark.parametrize("kind, expected", [
    ("hmm", {"train": 0.18376170, "validation": 0.19027380, "test": 0.18008487}),
    ("hqmm", {"train": 0.13030170, "validation": 0.13027268, "test": 0.12963438}),
])
def test_true_models_on_the_published_data(tmp_path, kind, expected):
    data = shared(f"data/synthetic-{kind}")
    # The published true model has no initial state: uniform, or I/2, is the default.
    model = tmp_path / "true.h5"
    assert hqmm("convert", data / "true_model.json", model).returncode == OK
    for split, da in expected.items():
        score = hqmm_json("score", model, data / f"{split}.txt", "--burn-in", 1000)
        assert score["da_mean"] == pytest.approx(da, abs=1e-8)


def test_probabilities_of_all_short_sequences_sum_to_one(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", random_kraus(3, 2, 3, seed=4))
    text = "\n".join(" ".join(map(str, y)) for y in itertools.product(range(3), repeat=5))
    score = hqmm_json("score", model, "-", "--per-sequence", stdin=text)
    total = sum(math.exp(one["log_likelihood"]) for one in score["per_sequence"])
    assert total == pytest.approx(1.0, abs=1e-12)


def test_missing_symbol_is_the_sum_over_its_values(model):
    def probability(text):
        return math.exp(hqmm_json("score", model, "-", stdin=text)["log_likelihood"])

    assert probability("0 ? 2 1") == pytest.approx(sum(probability(f"0 {y} 2 1") for y in range(3)), abs=1e-13)


def test_infeasible_model_is_scored_normalised_with_raw_beside(tmp_path, data):
    kraus = random_kraus(3, 2, 2)
    honest = hqmm_json("score", write_hqmm(tmp_path / "a.h5", kraus), data)
    inflated_model = write_hqmm(tmp_path / "b.h5", 1.1 * kraus)
    inflated = hqmm_json("score", inflated_model, data)
    assert inflated["log_likelihood"] == pytest.approx(honest["log_likelihood"], abs=1e-9)
    gain = 2 * math.log(1.1) * inflated["symbols"]
    assert inflated["raw"]["log_likelihood"] == pytest.approx(honest["log_likelihood"] + gain, abs=1e-9)
    assert inflated["feasibility_residual"] == pytest.approx(0.21 * math.sqrt(2), rel=1e-6)
    done = hqmm("score", inflated_model, data)
    assert done.returncode == OK
    assert "warning" in done.stderr and "not trace preserving" in done.stderr
    assert "raw" in done.stdout


def test_json_has_the_contract_s_keys(model, data):
    score = hqmm_json("score", model, data)
    assert {"sequences", "symbols", "log_likelihood", "da_mean", "da_std", "bits_per_symbol",
            "feasibility_residual", "raw"} <= score.keys()
    assert score["sequences"] == 2 and score["symbols"] == 8  # the missing one is not scored
    assert score["bits_per_symbol"] == pytest.approx(-score["log_likelihood"] / 8 / math.log(2))


def test_same_bytes_at_any_thread_count(model, tmp_path):
    text = "\n".join("0 1 2 1 0 2" * 1 for _ in range(100))
    one = hqmm("score", model, "-", "--json", "--per-sequence", "--threads", 1, stdin=text)
    two = hqmm("score", model, "-", "--json", "--per-sequence", "--threads", 2, stdin=text)
    assert one.stdout == two.stdout


def test_impossible_symbol_is_said_and_has_no_number(tmp_path):
    kraus = np.zeros((2, 1, 1, 1))
    kraus[0] = 1.0
    done = hqmm("score", write_hqmm(tmp_path / "m.h5", kraus), "-", "--json", stdin="0 1 0\n0 0 0")
    score = json.loads(done.stdout)
    assert done.returncode == OK and "probability 0" in done.stderr
    assert score["log_likelihood"] is None and score["impossible_sequences"] == 1
    assert score["da_mean"] == pytest.approx(0.0)  # −1 and 1


def test_nothing_left_to_score_is_an_error(model, data):
    fails(BAD_DATA, "score", model, data, "--burn-in", 10, says=["burn-in", str(data)])


def test_codes_can_stand_for_what_they_mean(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", random_kraus(4, 2, 3))
    with h5py.File(model, "a") as file:
        file["alphabet"] = list("ACGT")
    (tmp_path / "codes.fa").write_text(">one\nACRTN\n")
    (tmp_path / "read.fa").write_text(">a\nACATN\n>g\nACGTN\n")
    (tmp_path / "missing.fa").write_text(">one\nAC?TN\n")

    def rows(name, *options):
        return hqmm_json("score", model, tmp_path / name, "--per-sequence", *options)["per_sequence"]

    as_set, = rows("codes.fa", "--ambiguous", "set")
    both = rows("read.fa")
    total = math.log(sum(math.exp(row["log_likelihood"]) for row in both))
    assert as_set["log_likelihood"] == pytest.approx(total, rel=1e-12)
    assert as_set["symbols"] == both[0]["symbols"] == 4
    assert rows("codes.fa") == rows("missing.fa", "--ambiguous", "set")
    fails(BAD_DATA, "score", model, tmp_path / "codes.fa", "--ambiguous", "error", says="--ambiguous missing, set or drop")
    uniform = hqmm("score", model, tmp_path / "codes.fa", "--tsv", "--background", "uniform", "--ambiguous", "set")
    assert uniform.returncode == OK, uniform.stderr


def test_reads_splice_with_its_classes_and_ambiguity_codes(tmp_path):
    splice = shared("data/splice/splice.data")
    model = write_hqmm(tmp_path / "m.h5", random_kraus(4, 1, 2))
    done = fails(BAD_DATA, "score", model, splice)  # the model's alphabet is 0..3, the file's is letters
    assert "alphabet" in done.stderr
    done = hqmm("convert", splice, tmp_path / "splice.txt", "--ambiguous", "drop")
    assert done.returncode == OK and "3175 sequences" in done.stderr
