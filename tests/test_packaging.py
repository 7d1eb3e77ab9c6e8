"""The metadata that pip and a package index read."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"warpdyn", "ros2_node", "benchmarks"}
FROM_ROS = re.compile(
    r"\w+_msgs|\w+_srvs|\w+_interfaces|rclpy|launch|launch_ros|ament_index_python|rpyutils|rosidl_\w+"
)
"""Packages of a ROS distribution; pip's [ros] brings those that are wheels, under names of their own."""

DISTRIBUTIONS = {
    "warp": "warp-lang",
    "urdf_parser_py": "urdf-parser-py",
    "pinocchio": "pin",
    "pxr": "usd-core",
    "stable_baselines3": "stable-baselines3",
    "rsl_rl": "rsl-rl-lib",
    "google": "protobuf",
    "jaxlib": "jax",
    "yaml": "pyyaml",
    "collada": "pycollada",
    "PIL": "pillow",
}
"""Distributions whose modules have another name."""

BROUGHT = {
    "trimesh": "scipy",  # normals and hulls: without it, tracebacks on stderr
}
"""Packages whose functions that we call need another one, which their metadata leaves out."""


def metadata(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The arguments that setup.py passes to setuptools."""
    core = pytest.importorskip("setuptools")
    told: dict[str, Any] = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(core, "setup", lambda **options: told.update(options))
    code = compile((ROOT / "setup.py").read_text(), "setup.py", "exec")
    exec(code, {"__file__": str(ROOT / "setup.py"), "__name__": "__main__"})
    return told


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return found[0].lower().replace("_", "-")


def imported_packages(path: Path) -> set[str]:
    """Names of the packages that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.split(".")[0])
    return found - OURS - set(sys.stdlib_module_names)


def test_every_imported_package_is_a_requirement(monkeypatch):
    """No package is installed only because another package happens to require it."""
    told = metadata(monkeypatch)
    named = {name_of(each) for each in told["install_requires"]}
    named |= {name_of(each) for lines in told["extras_require"].values() for each in lines}
    for path in [*ROOT.glob("warpdyn/**/*.py"), *ROOT.glob("ros2_node/**/*.py")]:
        for module in imported_packages(path):
            if not FROM_ROS.fullmatch(module):
                wanted = name_of(DISTRIBUTIONS.get(module, module))
                assert wanted in named, f"{path.relative_to(ROOT)} imports {module}"


def test_extras_include_packages_that_their_packages_call(monkeypatch):
    """`pip install '.[viewer]'` draws without a traceback on stderr."""
    for extra, lines in metadata(monkeypatch)["extras_require"].items():
        names = {name_of(each) for each in lines}
        missing = {need for package, need in BROUGHT.items() if package in names} - names
        assert not missing, f"[{extra}] lacks {missing}"


def test_warp_has_an_upper_bound_while_its_private_modules_are_used(monkeypatch):
    """Another minor release of Warp may move `warp._src`."""
    private = [p for p in ROOT.glob("warpdyn/**/*.py") if "warp._src" in p.read_text()]
    line = next(x for x in metadata(monkeypatch)["install_requires"] if x.startswith("warp-lang"))
    assert not private or re.fullmatch(r"warp-lang>=1\.(\d+),<1\.(\d+)", line)


def test_the_metadata_is_complete(monkeypatch):
    """The licence is an SPDX expression and not a classifier. The classifiers list each Python
    version that is supported, and the system."""
    told = metadata(monkeypatch)
    assert told.get("license_expression", told.get("license")) == "Apache-2.0"
    classifiers = told["classifiers"]
    assert not [each for each in classifiers if each.startswith("License")]
    for minor in range(10, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in classifiers
    assert "Operating System :: POSIX :: Linux" in classifiers
    assert "ROS 2" in told["keywords"] and told["maintainer"]


def test_project_addresses_are_the_same_as_in_the_citation(monkeypatch):
    """CITATION.cff is the only source of the addresses."""
    known = re.findall(
        r"^(?:repository-code|url): *(\S+)$", (ROOT / "CITATION.cff").read_text(), re.M
    )
    assert sorted(metadata(monkeypatch)["project_urls"].values()) == sorted(known)


def test_the_source_distribution_includes_every_kind_of_file():
    """MANIFEST.in lists every file ending of each folder, so that tests run from an unpacked sdist.
    It lists no other: setuptools warns of a pattern without files."""
    rules = {}
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        if line.startswith("recursive-include"):
            _, folder, *patterns = line.split()
            rules[folder] = patterns
    for folder in (
        "benchmarks",
        "config",
        "docs",
        "docs_site",
        "examples",
        "launch",
        "ros2_node",
        "rviz",
        "scripts",
        "tests",
        "warpdyn",
    ):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not {"__pycache__", "api", ".ipynb_checkpoints"} & set(
                path.parts
            ):
                assert any(path.match(each) for each in rules[folder]), path
        patterns = set(rules[folder]) - {"*.pyi"}  # the stub is written when a wheel is built
        unused = [each for each in patterns if not any((ROOT / folder).rglob(each))]
        assert not unused, folder
