import re

import pytest

from conftest import BAD_DATA, OK, USAGE, fails, hqmm

COMMANDS = ["score", "predict", "sample", "inspect", "convert", "generate", "data"]


def test_help_and_version():
    done = hqmm("--help")
    assert done.returncode == OK and done.stderr == ""
    for command in COMMANDS:
        assert command in done.stdout
    assert re.fullmatch(r"hqmm \d+\.\d+\.\d+\nGPU engine: (not built|with CUDA \d+\.\d+)\n", hqmm("--version").stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches(command):
    done = hqmm(command, "--help")
    assert done.returncode == OK and "Example" in done.stdout


@pytest.mark.parametrize("args, says", [
    ([], "subcommand"),
    (["scroe"], "scroe"),
    (["score"], "MODEL"),
    (["score", "a", "b", "--burnin", "3"], "--burnin"),
    (["score", "a", "b", "--burn-in", "-3"], "--burn-in"),
    (["sample", "a", "--length", "0"], "--length"),
    (["sample", "a", "--threads", "x"], "--threads"),
    (["generate", "synthetic-foo", "-o", "x"], "synthetic-foo"),
    (["generate", "synthetic-hmm"], "--out"),
    (["convert", "a", "b.xyz"], ".h5"),
    (["data", "spice", "--from", "x"], "spice"),
    (["data", "splice", "--from"], "--from"),
    (["data", "splice", "--from", "ftp://x/y"], "ftp"),
])
def test_wrong_usage_is_one_line_and_code_2(args, says):
    fails(USAGE, *args, says=says)


@pytest.mark.parametrize("flags, says", [
    (["--alphabet", "a,a"], "twice"),
    (["--alphabet", "wat"], "wat"),
    (["--format", "docx"], "docx"),
    (["--ambiguous", "maybe"], "--ambiguous"),
])
def test_wrong_data_options(tmp_path, flags, says):
    (tmp_path / "d.txt").write_text("0 1\n")
    fails(USAGE, "convert", tmp_path / "d.txt", tmp_path / "e.txt", *flags, says=says)


def test_narration_goes_to_stderr_and_can_be_silenced(tmp_path):
    done = hqmm("generate", "synthetic-hqmm", "-o", tmp_path)
    assert done.stdout == "" and done.stderr != ""
    done = hqmm("generate", "synthetic-hqmm", "-o", tmp_path, "--quiet")
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize("content, says", [
    (b"", "no sequences"),
    (b"# only a comment\n", "no sequences"),
    (b"0 1\n2 x 1\n", ":2:3"),
    (b"0 1\n-1 0\n", ":2:1"),
    (b"0 1 \x00 1\n", ":1:5"),
    (b"\x1f\x8b\x08\x00 truncated", "gzip"),
])
def test_bad_data_names_its_place(tmp_path, content, says):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    fails(BAD_DATA, "convert", path, tmp_path / "out.txt", says=["bad.txt", says])
    assert not (tmp_path / "out.txt").exists()
