"""Height fields of MJCF files as height maps, compared with those that MuJoCo compiles."""

from __future__ import annotations

import builtins
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.names import ModelError

SIZE = (0.6, 0.4, 0.5, 0.1)

TEXT = """<mujoco><compiler {compiler}/><asset><hfield name="hills" {hills} size="{size}"/></asset>
<worldbody><geom name="field" type="hfield" hfield="hills" pos="0.5 -0.25 0.125" {geom}/>{more}
</worldbody></mujoco>"""


def text(hills: str, geom: str = "", more: str = "", compiler: str = "", size: tuple = SIZE) -> str:
    words = " ".join(map(str, size))
    return TEXT.format(hills=hills, geom=geom, more=more, compiler=compiler, size=words)


def elevation(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(rows).uniform(-3.0, 2.0, (rows, columns)).astype(np.float32)


def check_against_mujoco(source: str | Path) -> wd.HeightMap:
    """Nodes of the map lie where MuJoCo has them. Returns the map."""
    mujoco = pytest.importorskip("mujoco")
    is_file = isinstance(source, Path)
    spec = mujoco.MjModel
    theirs = spec.from_xml_path(str(source)) if is_file else spec.from_xml_string(source)
    rows, columns = theirs.hfield_nrow[0], theirs.hfield_ncol[0]
    radius_x, radius_y, top, _ = theirs.hfield_size[0]
    place, shares = theirs.geom_pos[0], theirs.hfield_data.reshape(rows, columns)
    mine = wd.HeightMap.from_mjcf(source)
    np.testing.assert_allclose(mine.heights, place[2] + top * shares.T, atol=1e-6)
    assert mine.cell == pytest.approx(2.0 * radius_x / (columns - 1))
    assert mine.origin == pytest.approx((place[0] - radius_x, place[1] - radius_y))
    assert mine.extent == pytest.approx((2.0 * radius_x, 2.0 * radius_y))
    return mine


def test_elevations_of_the_text_are_those_of_mujoco() -> None:
    """Given, all equal, or none at all. Rows and columns differ in number."""
    words = " ".join(map(str, elevation(3, 4).ravel()))
    found = check_against_mujoco(text(f'nrow="3" ncol="4" elevation="{words}"'))
    assert np.ptp(found.heights) == pytest.approx(SIZE[2])
    level = check_against_mujoco(text('nrow="3" ncol="4" elevation="' + "7 " * 12 + '"'))
    assert (level.heights == 0.125).all()
    assert (check_against_mujoco(text('nrow="3" ncol="4"')).heights == 0.125).all()


def test_binary_files_lie_in_the_folder_of_the_compiler(tmp_path: Path) -> None:
    """Two counts, then heights, as in MuJoCo's documentation."""
    (tmp_path / "ground").mkdir()
    data = struct.pack("<ii", 3, 4) + elevation(3, 4).tobytes()
    (tmp_path / "ground" / "hills.bin").write_bytes(data)
    file = tmp_path / "scene.xml"
    file.write_text(text('file="hills.bin"', compiler='meshdir="ground"'))
    check_against_mujoco(file)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "I;16"])
def test_images_are_read_as_mujoco_reads_them(mode: str, tmp_path: Path) -> None:
    """Grey of 8 and 16 bits, a palette, and the red of colours."""
    image = pytest.importorskip("PIL.Image")
    numbers = np.random.default_rng(3).integers(0, 256, (3, 4, 4))
    pixels = {"RGB": numbers[..., :3], "RGBA": numbers}.get(mode, numbers[..., 0]).astype(np.uint8)
    if mode == "I;16":
        pixels = (numbers[..., 0] * 256 + numbers[..., 1]).astype(np.uint16)
    drawn = image.fromarray(pixels)
    (drawn.convert("P") if mode == "P" else drawn).save(tmp_path / "hills.png")
    file = tmp_path / "scene.xml"
    file.write_text(text('file="hills.png"'))
    check_against_mujoco(file)


def test_a_ball_rests_on_the_plateau_of_a_file() -> None:
    """The map is the terrain of a simulation of the same file, whose warning names it."""
    nodes = " ".join(map(str, [1.0] * 8 + [0.0] * 4))  # rows of the text begin at the largest y
    ball = '<body pos="0.5 -0.1 1"><freejoint/><geom size="0.1" mass="1"/></body>'
    source = text(f'nrow="3" ncol="4" elevation="{nodes}"', more=ball)
    with pytest.warns(wd.ModelWarning, match=r"wd.HeightMap.from_mjcf reads a height field"):
        model = wd.load(source)
    sim = wd.Simulation(model, 1, terrain=wd.HeightMap.from_mjcf(source, "field"))
    for _ in range(100):
        sim.step()
    assert sim.q[0, 2] == pytest.approx(0.125 + SIZE[2] + 0.1, abs=1e-3)
    assert sim.forces.sum() == pytest.approx(9.81, abs=0.01)


@pytest.mark.parametrize(
    ("plane", "is_remarked"),
    [
        ('type="plane" size="9 9 1"', True),
        ('type="plane" size="9 9 1" pos="0 0 -0.5"', False),
        ('type="plane" size="9 9 1" contype="0" conaffinity="0"', False),
        ('type="plane" size="9 9 1" euler="0 90 0"', False),
        ('type="sphere" size="1"', False),
    ],
)
def test_a_field_below_the_floor_of_its_file_is_a_warning(plane: str, is_remarked: bool) -> None:
    """MuJoCo's bodies rest on the floor there. Above the floor a field is the ground alone."""
    for height, lower in ((-0.2, True), (0.0, False)):
        source = text('nrow="3" ncol="4"', more=f"<geom {plane}/>")
        source = source.replace("-0.25 0.125", f"-0.25 {height}")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            wd.HeightMap.from_mjcf(source)
        found = [x for x in said if "below the plane z = 0 in places" in str(x.message)]
        assert len(found) == int(is_remarked and lower)
        assert all(x.filename == __file__ for x in found)


FIELD = '<geom name="{}" type="hfield" hfield="{}"/>'


@pytest.mark.parametrize(
    ("source", "name", "error"),
    [
        ("<mujoco><worldbody/></mujoco>", None, 'no geom with type="hfield"'),
        (text('nrow="3" ncol="4"'), "hill", 'no height field "hill"; it has "field"'),
        (
            text('nrow="3" ncol="4"', more=FIELD.format("other", "hills")),
            None,
            'several height fields; name= one of "field", "other"',
        ),
        (
            text('nrow="3" ncol="4"', more=FIELD.format("other", "dunes")),
            "other",
            'there is no hfield "dunes"; add it to <asset>',
        ),
        (text('nrow="3" ncol="3"'), None, "cells are 0.6 m by 0.4 m; .* square cells"),
        (text('nrow="3" ncol="4"', geom='euler="0 0 90"'), None, "it is rotated"),
        (text('nrow="3" ncol="4"', size=(0.6, 0.4, 0, 0.1)), None, "four positive numbers"),
        (text('nrow="3.5" ncol="4"'), None, 'nrow is "3.5"; it must be a whole number'),
        (text('nrow="1" ncol="4"'), None, "1 rows and 4 columns; it needs 2 or more"),
        (text('nrow="9999" ncol="9999"'), None, "9999 by 9999 nodes, more than"),
        (text('nrow="2" ncol="2" elevation="1 2 3"'), None, "it needs 4 finite numbers"),
        (text('file="hills.bin"'), None, "it is looked for next to a file"),
    ],
)
def test_fields_that_no_height_map_can_be_are_refused(
    source: str, name: str | None, error: str
) -> None:
    """The message says what is wrong, and in which line."""
    with pytest.raises(ModelError, match=error):
        wd.HeightMap.from_mjcf(source, name)


@pytest.mark.parametrize(
    ("file", "attributes", "data", "error"),
    [
        ("a.bin", "", b"1234567", "ends before its counts"),
        ("a.bin", "", struct.pack("<ii", 3, 4) + bytes(40), "48 bytes; 3 rows of 4 take 56"),
        ("a.bin", "", struct.pack("<iif", 2, 2, np.nan) + bytes(12), "not finite"),
        ("a.bin", 'content_type="text/plain"', bytes(9), 'content_type is "text/plain"'),
        ("a.bin", 'content_type="image/png"', bytes(9), "cannot be read as an image"),
        ("a.png", "", b"not an image", "cannot be read as an image"),
    ],
)
def test_damaged_files_are_refused(
    file: str, attributes: str, data: bytes, error: str, tmp_path: Path
) -> None:
    """The message names the file."""
    (tmp_path / file).write_bytes(data)
    scene = tmp_path / "scene.xml"
    scene.write_text(text(f'file="{file}" {attributes}'))
    with pytest.raises(ModelError, match=error):
        wd.HeightMap.from_mjcf(scene)


def test_images_need_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra that installs it."""
    (tmp_path / "hills.png").write_bytes(b"")
    scene = tmp_path / "scene.xml"
    scene.write_text(text('file="hills.png"'))
    plain = builtins.__import__

    def without_pillow(name: str, *args: object) -> object:
        if name.startswith("PIL"):
            raise ImportError(name)
        return plain(name, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without_pillow)
    with pytest.raises(ModelError, match=r"read with Pillow: pip install '\.\[meshes\]'"):
        wd.HeightMap.from_mjcf(scene)
