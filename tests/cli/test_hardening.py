"""What the compiler and linker were asked for is in the files they made: no library is looked for in folders of our
own, and a memory error is hard to use."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import BINARY, SOURCE, hqmm

MODULES = sorted((SOURCE / "python" / "hqmm").glob("_core*.so"))

pytestmark = pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed (binutils)")
release_only = pytest.mark.skipif(
    os.environ.get("HQMM_BUILD_TYPE", "Release") == "Debug",
    reason="builds without optimisation and with sanitizers are not hardened")


def readelf(file, *options):
    return subprocess.run(["readelf", "-W", *options, str(file)], check=True, text=True, stdout=subprocess.PIPE).stdout


def search_paths(file):
    """The folders where the loader looks for this file's libraries before its own ones."""
    found = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", readelf(file, "-d"))
    return [folder for path in found for folder in path.split(":")]


def compiled_by_us():
    return [pathlib.Path(BINARY), *MODULES]


@pytest.fixture(params=compiled_by_us(), ids=lambda file: file.name.partition(".")[0])
def compiled(request):
    return request.param


def test_no_library_is_looked_for_in_the_current_folder(compiled):
    # An empty entry is the current folder, and so is a relative one.
    assert [folder for folder in search_paths(compiled) if not folder.startswith(("/", "$ORIGIN"))] == []


def test_a_library_in_the_current_folder_is_not_loaded(tmp_path):
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf(BINARY, "-d")):
        (tmp_path / name).write_bytes(b"not a library")
    assert hqmm("--version", cwd=tmp_path).returncode == 0


@release_only
def test_the_loader_leaves_nothing_writable(compiled):
    assert "GNU_RELRO" in readelf(compiled, "-l")
    assert re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", readelf(compiled, "-d"))


@release_only
def test_code_is_placed_anywhere_and_the_stack_does_not_run(compiled):
    assert re.search(r"Type:\s+DYN", readelf(compiled, "-h"))
    stack = re.search(r"GNU_STACK.*", readelf(compiled, "-l"))[0]
    assert " RW " in stack and "E" not in stack.partition(" RW ")[2]


@release_only
def test_the_stack_and_copies_are_guarded(compiled):
    symbols = readelf(compiled, "--dyn-syms")
    assert "__stack_chk_fail" in symbols
    assert re.search(r"__(memcpy|memmove|memset|read|snprintf|vsnprintf|fprintf)_chk", symbols)


@release_only
@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed (binutils)")
def test_jumps_land_where_they_may(compiled):
    if not re.search(r"Machine:.*X86-64", readelf(compiled, "-h")):
        pytest.skip("only x86 has the instruction")
    # The note that turns it on needs a C library built so as well; Debian's is not. Our own code is ready.
    entry = "main" if compiled == pathlib.Path(BINARY) else "PyInit__core"
    if not re.search(rf"\b{entry}\b", readelf(compiled, "-s")):
        pytest.skip(f"{entry} was stripped")
    code = subprocess.run(["objdump", "-d", f"--disassemble={entry}", str(compiled)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    assert "endbr64" in code
