"""pip install . --no-build-isolation: the module is built by CMake, everything else by setuptools."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(hqmm VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def run(command):
    """What a build lacks is said in one line, after what CMake has to say; a traceback helps nobody."""
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        sys.exit(f"hqmm: {command[0]} is not installed: ./dev setup build python installs what the build needs")
    except subprocess.CalledProcessError:
        sys.exit("hqmm: the build failed, see above: ./dev setup build python installs what it needs")


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        folder = pathlib.Path(os.environ.get("HQMM_BUILD_DIR", self.build_temp)).resolve()
        configure = ["cmake", "-S", str(SOURCE), "-B", str(folder), "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=Release", "-DHQMM_BUILD_PYTHON=ON", "-DHQMM_BUILD_CLI=OFF",
                     "-DHQMM_BUILD_TESTS=OFF", "-DHQMM_WERROR=OFF", f"-DPython_EXECUTABLE={sys.executable}",
                     f"-DHQMM_PYTHON_OUTPUT={target.parent}", *shlex.split(os.environ.get("CMAKE_ARGS", ""))]
        jobs = os.environ.get("HQMM_JOBS", str(os.cpu_count() or 1))
        run(configure)
        run(["cmake", "--build", str(folder), "--target", "_core", "-j", jobs])


setup(version=VERSION, ext_modules=[Extension("hqmm._core", sources=[])],
      cmdclass={"build_ext": CMakeBuild})
