"""Where mesh files are searched, and the messages about missing ones."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from documented_numbers import check_numbers

from warpdyn.model import mesh_files
from warpdyn.model.description import Geometry
from warpdyn.model.mesh_files import LARGEST, MeshError, mesh_data, mesh_file

VARIABLES = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GZ_SIM_RESOURCE_PATH")


@pytest.fixture(autouse=True)
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def make_file(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"solid")
    return path


def mesh(name: str, folder: Path | None = None) -> Geometry:
    return Geometry("mesh", (1.0, 1.0, 1.0), name, folder=folder)


def why(shape: Geometry) -> str:
    with pytest.raises(MeshError) as error:
        mesh_file(shape)
    return str(error.value)


def test_a_relative_name_starts_from_the_folder_of_the_description(tmp_path: Path) -> None:
    """It may lead above the folder. Absolute paths and file:// are used unchanged, and %20 is a
    blank."""
    file = make_file(tmp_path / "meshes/left arm.stl")
    urdf = tmp_path / "urdf"
    urdf.mkdir()
    for name in ("../meshes/left arm.stl", "../meshes/left%20arm.stl", str(file), f"file://{file}"):
        assert mesh_file(mesh(name, urdf)).samefile(file)
    assert mesh_file(mesh(str(file))) == file


@pytest.mark.parametrize(
    ("variable", "between"), list(zip(VARIABLES, ("", "share", ""), strict=True)), ids=VARIABLES
)
def test_packages_are_found_by_environment_variables(
    variable: str, between: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package is in any folder of the variable, or is one of these folders."""
    file = make_file(tmp_path / "ws" / between / "arm_description/meshes/a.STL")
    monkeypatch.setenv(variable, f"{tmp_path / 'other'}:{tmp_path / 'ws'}")
    for scheme in ("package", "model"):
        assert mesh_file(mesh(f"{scheme}://arm_description/meshes/a.STL")) == file
    monkeypatch.setenv(variable, str(file.parents[1]))
    if not between:
        assert mesh_file(mesh("package://arm_description/meshes/a.STL")) == file
    assert "set ROS_PACKAGE_PATH" in why(mesh("package://leg_description/meshes/a.STL"))


def test_packages_are_found_above_the_description(tmp_path: Path) -> None:
    """Usually a URDF is in its own package, or next to other packages."""
    mine = make_file(tmp_path / "arm/meshes/a.obj")
    file = make_file(tmp_path / "hand/meshes/b.dae")
    urdf = tmp_path / "arm/urdf/robots"
    assert mesh_file(mesh("package://arm/meshes/a.obj", urdf)).samefile(mine)
    assert mesh_file(mesh("package://hand/meshes/b.dae", urdf)).samefile(file)


def test_unusable_mesh_names_are_refused_with_the_reason(tmp_path: Path) -> None:
    """No name, another format, no file, a relative name in a text, another scheme, a huge file."""
    assert why(mesh("")) == "it names no file"
    assert why(mesh("a.step", tmp_path)).startswith("only .stl, .obj")
    assert why(mesh("a.stl", tmp_path)) == "there is no such file"
    assert why(mesh("a.stl")).endswith("load it by its path")
    assert why(mesh("https://x.org/a.stl")).startswith("https:// is not read")
    assert why(mesh("a\0.stl", tmp_path))
    (tmp_path / "folder.stl").mkdir()
    assert why(mesh("folder.stl", tmp_path)) == "there is no such file"
    with (tmp_path / "huge.stl").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert why(mesh("huge.stl", tmp_path)).startswith(
        "its file has 64 MiB, more than the 64 MiB that are read"
    )


def test_a_package_address_cannot_leave_its_package(tmp_path: Path) -> None:
    """Neither .. nor %2e leads outside. A path that goes up and down inside the package is
    accepted."""
    make_file(tmp_path / "secret.stl")
    inside = make_file(tmp_path / "arm/meshes/a.stl")
    (tmp_path / "arm/urdf").mkdir()
    outside = ("../secret.stl", "%2e%2e/secret.stl", "./secret.stl", "arm/../secret.stl")
    outside += ("arm/meshes/../../secret.stl", "arm/%2E%2E/secret.stl", "/../secret.stl")
    for name in outside:
        for scheme in ("package", "model"):
            said = why(mesh(f"{scheme}://{name}", tmp_path / "arm/urdf"))
            assert "leaves its package; name a file in the package" in said
    for name in ("urdf/../meshes/a.stl", "/meshes/a.stl", f"/{inside}"):
        shape = mesh(f"package://arm/{name}", tmp_path / "arm/urdf")
        if name.endswith(str(inside)):
            assert "is not there" in why(shape)
        else:
            assert mesh_file(shape).samefile(inside)


def test_a_pipe_and_a_device_are_refused(tmp_path: Path) -> None:
    """They are not opened."""
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "zero.stl").symlink_to("/dev/zero")
    for name in ("pipe.stl", "zero.stl"):
        assert why(mesh(name, tmp_path)).startswith("its file is a pipe, a socket or a device")


def test_an_unreadable_file_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the words of the system, or those about an invalid archive."""
    with pytest.raises(MeshError, match=r"^its file cannot be read: .*No such file.*gone.stl"):
        mesh_data(tmp_path / "gone.stl")

    def without_table(*_: object) -> None:
        raise zipfile.BadZipFile("Bad magic number for central directory")

    with monkeypatch.context() as patched:
        patched.setattr(mesh_files, "check_unpacked", without_table)
        with pytest.raises(MeshError, match=r"^its file cannot be read: Bad magic number"):
            mesh_data(make_file(tmp_path / "broken.usdz"))

    def taken_away(*_: object) -> None:
        raise OSError("the disk is gone")

    make_file(tmp_path / "a.stl")
    monkeypatch.setattr(mesh_files, "check_regular_file", taken_away)
    assert why(mesh("a.stl", tmp_path)) == "its file cannot be read: the disk is gone"


def test_documented_numbers() -> None:
    check_numbers("model.mesh_files", LARGEST=64 * 2**20)
