"""What the program says of itself: help, completion, manual pages. All come from its parser."""

import re
import shutil
import subprocess

import pytest

from conftest import OK, USAGE, fails, hqmm


def commands(*above):
    """The names that the help of a command lists."""
    lists = hqmm(*above, "--help").stdout.split("Options:")[1].split("\n\nExamples:")[0].split("\nTry it:")[0]
    indented = re.findall(r"^  ([a-z][a-z-]*)  ", lists, re.MULTILINE)
    return [[*above, name] for name in indented]


EVERY_COMMAND = commands() + commands("classify")


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"skipped: there is no {program} here")


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=" ".join)
def test_help_command_is_its_help(command):
    done = hqmm("help", *command)
    assert done.returncode == OK and done.stderr == ""
    assert done.stdout == hqmm(*command, "--help").stdout
    assert f"Usage: hqmm {' '.join(command)} " in done.stdout


def test_help_alone_is_that_of_the_program():
    assert len(EVERY_COMMAND) > 18
    assert hqmm("help").stdout == hqmm("--help").stdout


@pytest.mark.parametrize("words, says", [
    (["trian"], ["'trian'", "did you mean 'train'?"]),
    (["classify", "ft"], ["'classify ft'", "did you mean 'fit'?"]),
    (["train", "fit"], ["'train fit'"]),
    (["--no"], ["--no"]),
])
def test_help_of_an_unknown_command(words, says):
    fails(USAGE, "help", *words, says=says)


def test_completion_wants_a_shell():
    fails(USAGE, "completion", says="SHELL")
    fails(USAGE, "completion", "tcsh", says=["bash or zsh or fish", "tcsh"])


def bash_completes(tmp_path, *words):
    """What bash offers for the last word, split as bash splits a line."""
    script = tmp_path / "hqmm.bash"
    script.write_text(hqmm("completion", "bash").stdout)
    program = ('source "$1"; shift; COMP_WORDS=(hqmm "$@"); COMP_CWORD=$#; COMPREPLY=(); _hqmm; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-eu", "-c", program, "bash", script, *words], cwd=tmp_path,
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands(tmp_path):
    assert bash_completes(tmp_path, "s") == ["select", "score", "scan", "sample"]
    assert bash_completes(tmp_path, "classify", "") == ["fit", "predict", "cross-validate", "extract"]
    assert bash_completes(tmp_path, "help", "re") == ["report", "reproduce"]
    assert "manual" not in bash_completes(tmp_path, "")  # for the build


def test_bash_completes_options_and_their_words(tmp_path):
    assert bash_completes(tmp_path, "train", "--kr") == ["--kraus-rank"]
    assert bash_completes(tmp_path, "classify", "fit", "--obj") == ["--objective"]
    assert bash_completes(tmp_path, "train", "--learner", "") == ["ns-ris", "cosm", "givens", "em"]
    assert bash_completes(tmp_path, "train", "--field", "=", "r") == ["real"]
    assert bash_completes(tmp_path, "train", "--field", "=") == ["complex", "real"]
    assert bash_completes(tmp_path, "train", "-n", "") == []
    assert "golden-mean" in bash_completes(tmp_path, "generate", "")


def test_bash_completes_files_and_folders(tmp_path):
    (tmp_path / "data.txt").write_text("0 1\n")
    (tmp_path / "days").mkdir()
    assert sorted(bash_completes(tmp_path, "score", "model.h5", "da")) == ["data.txt", "days"]
    assert bash_completes(tmp_path, "train", "--run", "da") == ["days"]
    assert bash_completes(tmp_path, "train", "--validation", "dat") == ["data.txt"]


def test_bash_completes_every_option(tmp_path):
    for command in EVERY_COMMAND:
        text = hqmm(*command, "--help").stdout.split("\n\nExamples:")[0]
        options = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE)
        assert "--help" in options and set(options) <= set(bash_completes(tmp_path, *command, "--"))


@needs("shellcheck")
def test_shellcheck_passes_the_bash_script(tmp_path):
    script = tmp_path / "hqmm.bash"
    script.write_text(hqmm("completion", "bash").stdout)
    subprocess.run(["shellcheck", "-s", "bash", script], check=True)


@needs("zsh")
def test_zsh_reads_its_script(tmp_path):
    script = tmp_path / "_hqmm"
    script.write_text(hqmm("completion", "zsh").stdout)
    subprocess.run(["zsh", "-n", script], check=True)


def fish_completes(tmp_path, line):
    script = tmp_path / "hqmm.fish"
    script.write_text(hqmm("completion", "fish").stdout)
    done = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', script, line],
                          cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [offer.split("\t")[0] for offer in done.stdout.splitlines()]


@needs("fish")
def test_fish_completes(tmp_path):
    assert fish_completes(tmp_path, "hqmm sc") == ["scan", "score"]
    assert sorted(fish_completes(tmp_path, "hqmm classify ")) == ["cross-validate", "extract", "fit", "predict"]
    assert fish_completes(tmp_path, "hqmm train --kr") == ["--kraus-rank"]
    assert fish_completes(tmp_path, "hqmm train --field ") == ["complex", "real"]
    assert fish_completes(tmp_path, "hqmm classify predict --learn") == []


def manual(tmp_path):
    assert hqmm("manual", tmp_path).returncode == OK
    return tmp_path


def test_every_command_has_a_manual_page(tmp_path):
    pages = manual(tmp_path)
    names = {f"hqmm-{'-'.join(command)}.1" for command in EVERY_COMMAND} | {"hqmm.1"}
    assert {path.name for path in pages.glob("*.1")} == names
    text = (pages / "hqmm-classify-fit.1").read_text()
    assert text.index(".SH NAME") < text.index(".SH SYNOPSIS") < text.index(".SH OPTIONS") < text.index(".SH EXAMPLES")
    assert r"\fB\-n\fR, \fB\-\-latent\-dim\fR \fIN\fR" in text
    assert (pages / "hqmm.bash").read_text() == hqmm("completion", "bash").stdout


@needs("groff")
def test_groff_reads_every_page_without_a_warning(tmp_path):
    for page in sorted(manual(tmp_path).glob("*.1")):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", page], capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == ""


def test_the_manual_needs_its_folder(tmp_path):
    fails(73, "manual", tmp_path / "none", says="there is no folder")
