"""What pip says where the tools of the build are missing."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytest.importorskip("setuptools")


def build(folder, path):
    command = [sys.executable, "setup.py", "build_ext", "--build-temp", folder / "temp", "--build-lib", folder / "lib"]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": str(path)}, capture_output=True, text=True)


def test_without_cmake_one_line_says_what_to_do(tmp_path):
    found = build(tmp_path, tmp_path)
    assert found.returncode != 0
    assert "Traceback" not in found.stderr
    assert found.stderr.splitlines()[-1] == (
        "hqmm: cmake is not installed: ./dev setup build python installs what the build needs")


def test_a_failed_configuration_ends_with_what_to_do(tmp_path):
    cmake = tmp_path / "cmake"
    cmake.write_text("#!/bin/sh\necho 'Could not find pybind11' >&2\nexit 1\n")
    cmake.chmod(0o755)
    found = build(tmp_path, tmp_path)
    assert found.returncode != 0
    assert "Could not find pybind11" in found.stderr and "Traceback" not in found.stderr
    assert found.stderr.splitlines()[-1] == (
        "hqmm: the build failed, see above: ./dev setup build python installs what it needs")
