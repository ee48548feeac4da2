"""What ./dev bench --compare says of two runs."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import compare  # noqa: E402
import cuda  # noqa: E402
import users  # noqa: E402
from timed import timed  # noqa: E402


def run(**cases):
    """What Google Benchmark writes: milliseconds of the repetitions of each case."""
    return {"benchmarks": [
        {"name": f"{name}/process_time", "run_name": f"{name}/process_time", "run_type": "iteration", "time_unit": "ms",
         "cpu_time": time, "real_time": 100.0}
        for name, times in cases.items() for time in times]}


def test_slower_is_slower_beyond_the_noise():
    before = run(steady=[1.0, 1.0, 1.01], noisy=[1.0, 1.2, 1.3], same=[1.0, 1.0, 1.0])
    after = run(steady=[1.07, 1.07, 1.08], noisy=[1.07, 1.1, 1.2], same=[1.04, 1.04, 1.04])
    rows = {name: (ratio, slower) for name, ratio, _, slower in compare.compare(before, after)}
    assert rows == {"steady": (pytest.approx(1.07), True), "noisy": (pytest.approx(1.07), False),
                    "same": (pytest.approx(1.04), False)}
    text, slower = compare.lines(before, after)
    assert slower == 1
    assert [line for line in text if "SLOWER" in line][0].startswith("steady")


def test_cases_of_one_run_only_are_named():
    text, slower = compare.lines(run(a=[1.0], b=[1.0]), run(a=[0.5], c=[1.0]))
    assert slower == 0 and text[-1] == "not measured now: b" and "0.500" in text[1]


def test_files_without_a_common_case_are_refused():
    with pytest.raises(SystemExit, match="no case in common"):
        compare.lines(run(a=[1.0]), run(b=[1.0]))


def test_the_table_for_users_says_what_was_not_measured():
    ours = {"4/1000000/score": {"seconds": 2.0, "MB": 30.0}, "4/10000000/score": {"seconds": 18.0, "MB": 48.0},
            "8/1000000/score": {"seconds": 5.0, "MB": 31.0}}
    header, rows = users.rows({"ours": ours, "others": {"4/GHMM": 1e-6, "8/naive": 1e-4}})
    cells = {(row[0], row[1]): dict(zip(header, row)) for row in rows}
    assert len(rows) == 9 and {len(row) for row in rows} == {len(header)}
    assert cells["1 million", "4"]["score"] == "2 s, 30 MB"
    assert cells["10 million", "4"]["score"] == "18 s, 48 MB"
    assert cells["100 million", "4"]["score"] == "≈ 180 s, 228 MB"
    assert cells["100 million", "8"]["score"] == "≈ 500 s"
    assert cells["100 million", "16"]["score"] == "–"
    assert cells["10 million", "4"]["GHMM, an iteration"] == "≈ 10 s"
    assert cells["100 million", "8"]["`--engine naive`, one epoch"] == "≈ 2.8 h"
    assert users.rows({}) == (header, [])


def test_memory_is_that_of_the_command_alone():
    ballast = bytearray(64 << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert timed("sleep", "0.05").megabytes < 32.0
    with pytest.raises(RuntimeError, match="what it says"):
        timed("sh", "-c", "echo what it says >&2; exit 3")


def gpu_case(**measured):
    return {"case": "a", "field": "real", "emission": "state", "n": 180, "w": 2, "batch": 64, "error": 1e-13, "seconds": 0.04,
            "flop_per_second": 4e13, "core_seconds": 80.0,
            "bars": {"share_of_dgemm": 0.7, "against_core": 0, "against_torch": 3}, **measured}


def test_the_page_of_a_gpu_says_what_was_measured():
    content = {"device": "a GPU", "dgemm": 5e13, "simd": "avx2", "cpu": "a processor", "date": "2026-01-01",
               "cases": [gpu_case(share_of_dgemm=0.8)], "torch": [{"case": "a", "peer": "PyTorch 9", "seconds": 0.1, "error": 0}]}
    text = cuda.section(content)
    assert "| real, state, n = 180, w = 2, batch 64 | 40 ms | 40 | 80% | 100 ms (2.5×) | 80 s (2e+03×) | 1e-13 |" in text
    assert "share of dgemm ≥ 70%: met" in text and "times PyTorch ≥ 3×: MISSED" in text and "times a core ≥" not in text


def test_the_page_of_a_gpu_without_figures():
    assert "Not measured yet" in cuda.section({})
    text = cuda.section({"cases": [gpu_case()], "device": "a GPU", "dgemm": 0.0, "simd": "avx2", "cpu": "", "date": "",
                         "torch": [{"missing": "PyTorch is not installed"}]})
    assert "share of dgemm ≥ 70%: –" in text and "times PyTorch ≥ 3×: –" in text
