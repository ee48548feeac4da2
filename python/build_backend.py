"""What pip calls to build: setuptools, found on this machine first.

pip builds in an environment without the system's packages and fills it from the network. Debian has
setuptools and wheel, and this build needs nothing else, so they are looked for where they are.
"""

import importlib.util
import site
import sys

DEBIAN = "/usr/lib/python3/dist-packages"
TOOLS = ("setuptools", "wheel")


def _look_around():
    for folder in [*site.getsitepackages(), DEBIAN]:
        if any(importlib.util.find_spec(tool) is None for tool in TOOLS) and folder not in sys.path:
            sys.path.append(folder)


def _requires(config_settings=None):
    return [tool for tool in TOOLS if importlib.util.find_spec(tool) is None]


def _hook(name):
    def call(*args, **kwargs):
        from setuptools import build_meta

        return getattr(build_meta, name)(*args, **kwargs)

    return call


_look_around()
get_requires_for_build_wheel = get_requires_for_build_editable = _requires
build_wheel = _hook("build_wheel")
build_editable = _hook("build_editable")
prepare_metadata_for_build_wheel = _hook("prepare_metadata_for_build_wheel")
prepare_metadata_for_build_editable = _hook("prepare_metadata_for_build_editable")
