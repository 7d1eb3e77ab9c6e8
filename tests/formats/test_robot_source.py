"""Sources of descriptions, through the URDF reader: paths, texts and bytes, truncated XML, entity
bombs and prefixes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from time_limit import time_limit
from urdf_texts import joint, links, load, refusal, remarks, robot

import warpdyn as wd
from warpdyn.formats import robot_source
from warpdyn.formats import robot_source as chosen
from warpdyn.formats.registry import MJCF, URDF
from warpdyn.formats.robot_source import (
    GRAVITY,
    NEARLY,
    Reading,
    RobotSource,
    check_loops_option,
    tag_name,
    xml_root,
)
from warpdyn.formats.urdf import load_urdf
from warpdyn.model.names import ModelError
from warpdyn.model.poses_and_limits import MOST


def test_path_text_and_bytes_give_the_same_model(tmp_path: Path) -> None:
    """A Path, a path in a str, XML in a str and XML in bytes give the same robot."""
    text = '<?xml version="1.0" encoding="utf-8"?>' + robot(links("a", "bü"), joint(child="bü"))
    path = tmp_path / "r.urdf"
    path.write_text(text, encoding="utf-8")
    models = [load_urdf(path), load_urdf(str(path)), load(text), load(text.encode())]
    assert len({model.key for model in models}) == 1
    assert models[0].link_names == ("a", "bü")


@pytest.mark.parametrize("before", ["", "\n\n  ", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0" encoding="iso-8859-1"?>'])
def test_text_may_begin_with_blanks_and_name_any_encoding(before: str, declaration: str) -> None:
    """A str is text already: blanks, a byte order mark and a declared encoding change nothing."""
    assert load(before + declaration + robot(links("é"))).link_names == ("é",)


@pytest.mark.parametrize("version", ["0.0", "1", "2.0", "", "1.0"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_any_declared_version_of_xml_is_read(version: str, quote: str) -> None:
    """Files declare version 0.0 and mean XML. The declared encoding and the line numbers still
    count."""
    head = f"<?xml version={quote}{version}{quote} encoding={quote}iso-8859-1{quote}?>\n"
    assert load((head + robot(links("é"))).encode("latin-1")).link_names == ("é",)
    assert "(line 2)" in refusal(head + robot("<link/>"))


def test_bytes_are_read_in_their_own_encoding() -> None:
    """A byte order mark or a declaration gives the encoding."""
    text = robot(links("é"))
    assert load(text.encode("utf-16")).link_names == ("é",)
    assert load(
        ('<?xml version="1.0" encoding="iso-8859-1"?>' + text).encode("latin-1")
    ).link_names == ("é",)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", ["empty", "give a path or XML text"]),
        (" \n ", ["empty"]),
        (b"", ["empty"]),
        (b" \n", ["empty"]),
        ("no/such.urdf", ["no/such.urdf", "no such file", "give the path"]),
        (Path("no/such.urdf"), ["no/such.urdf", "no such file"]),
        ("panda", ["panda: there is no such file", "wd.load_robot reads the bundled robots"]),
        ("x\0y", ["cannot be read"]),
        ("long" * 2000, ["..."]),
        ("no angle bracket <robot/>", ["no such file", "begins with <"]),
    ],
)
def test_a_source_that_is_not_a_description_is_refused(
    source: str | bytes | Path, words: list[str]
) -> None:
    """One ModelError says what to give instead."""
    message = refusal(source)
    assert all(word in message for word in words) and len(message) < 400


def test_a_directory_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    """The ModelError names the directory or the file."""
    assert "is a directory" in refusal(tmp_path)
    empty = tmp_path / "empty.urdf"
    empty.write_text("")
    assert refusal(empty).startswith("empty.urdf: the text is empty")


def test_a_source_of_another_type_is_a_type_error() -> None:
    """A source that is neither a path nor text is the caller's mistake, not the file's."""
    with pytest.raises(TypeError, match="needs a path or XML text, got int"):
        load_urdf(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "<",
        "<robot",
        "<robot>",
        robot(links("a"))[:-3],
        robot(links("a")) + "<robot/>",
        "<a b='1' b='2'/>",
    ],
)
def test_truncated_or_malformed_text_is_refused(text: str) -> None:
    """Recovery is for undeclared prefixes only: broken XML is an error with its line."""
    message = refusal(text)
    assert "not well-formed XML" in message and "line 1" in message


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_truncated_description_is_refused(cut: int) -> None:
    """No beginning of a description is accepted as the whole description."""
    text = Path(sys.modules["warpdyn.robots"].__file__ or "").with_name("cartpole.urdf").read_text()
    assert refusal(text[: len(text) * cut // 12]).startswith("URDF text: ")


def bomb(use: str) -> str:
    layers = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    return f'<!DOCTYPE robot [<!ENTITY e0 "ha">{layers}]>{use}'


@pytest.mark.parametrize(
    "text",
    [
        bomb('<robot name="&e11;"/>'),
        bomb("<robot>&e11;</robot>"),
        bomb('<robot><link name="a"/></robot>'),
        f'<!DOCTYPE robot [<!ENTITY e "{"x" * 100_000}">]><robot name="{"&e;" * 20_000}"/>',
        '<!DOCTYPE robot [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]><robot><link name="a"/></robot>',
        '<!DOCTYPE robot SYSTEM "http://example.invalid/urdf.dtd"><robot><link name="a"/></robot>',
        '<!DOCTYPE robot PUBLIC "x" "urdf.dtd"><robot><link name="a"/></robot>',
    ],
)
def test_entities_and_external_dtds_are_refused(text: str) -> None:
    """No entity is expanded, and the message names the remedy."""
    assert "remove the DOCTYPE" in refusal(text)


@pytest.mark.parametrize(
    "use", ['<link name="&secret;"/>', "<link name='a'>&secret;</link>", '<link name="a"/>']
)
def test_external_entities_are_never_read(tmp_path: Path, use: str) -> None:
    """A file that an entity names is not opened."""
    secret = tmp_path / "secret"
    secret.write_text("opened")
    message = refusal(
        f'<!DOCTYPE robot [<!ENTITY secret SYSTEM "{secret.as_uri()}">]><robot>{use}</robot>'
    )
    assert "remove the DOCTYPE" in message and "opened" not in message


def test_a_doctype_without_declarations_is_accepted() -> None:
    """A DOCTYPE that declares nothing is ignored."""
    assert load(f"<!DOCTYPE robot>{robot(links('a'))}").link_names == ("a",)


def test_an_undeclared_entity_is_refused() -> None:
    """A reference to an undeclared entity is malformed XML."""
    assert "Entity 'e' not defined" in refusal(robot("&e;", links("a")))


def test_deep_nesting_is_refused() -> None:
    """Deep nesting raises a ModelError and does not overflow the stack."""
    assert "Excessive depth" in refusal(robot("<a>" * 5000 + "</a>" * 5000))


@pytest.mark.parametrize("count", [1, 300])
def test_undeclared_prefixes_are_ignored_with_one_remark(count: int) -> None:
    """One remark counts all elements with an undeclared prefix."""
    said = remarks(robot("<foo:bar baz:x='1'><link name='z'/></foo:bar>" * count, links("a")))
    times = f"{count} times, first on line 1" if count > 1 else "line 1"
    assert said == (f"ignored element <foo:bar> of <robot> ({times})",)


def test_truncation_after_undeclared_prefixes_is_refused() -> None:
    """Hundreds of undeclared prefixes do not hide that the file is truncated."""
    assert "not well-formed" in refusal(robot("<foo:bar/>" * 300, links("a"))[:-4])


def test_a_source_is_read_and_parsed_once(tmp_path: Path) -> None:
    """A reader that receives a RobotSource uses this object and the XML element that was parsed
    first."""
    path = tmp_path / "r.urdf"
    path.write_text(robot(links("a")))
    source = RobotSource.of(path, "load", "URDF or SDF")
    path.unlink()
    root = source.xml("<robot>")
    assert RobotSource.of(source, "load_urdf", "URDF") is source and source.root_of(URDF) is root
    assert (source.name, source.suffix) == ("r.urdf", ".urdf")
    assert load_urdf(source).link_names == ("a",)


def test_a_reader_refuses_the_root_element_of_another_format() -> None:
    """The message names the function to use instead, or the format to convert to."""
    with pytest.raises(ModelError, match="a URDF has <robot>; this is MJCF, use load_mjcf"):
        RobotSource.of("<mujoco/>", "load_urdf", "URDF").root_of(URDF)
    with pytest.raises(ModelError, match="an MJCF file has <mujoco>; this is another format"):
        RobotSource.of("<a/>", "load_mjcf", "MJCF").root_of(MJCF)


def element(text: str):
    return xml_root("text", text.encode(), None, "<a>")


@pytest.mark.parametrize(
    ("text", "count", "infinite", "numbers"),
    [
        ("1 -2e3 .5", 3, False, [1.0, -2000.0, 0.5]),
        ("inf -inf", 2, True, [float("inf"), float("-inf")]),
        ("inf", 1, False, None),
        ("nan", 1, True, None),
        ("1 2", 3, False, None),
        ("1_000", 1, False, None),
        ("\u0661", 1, False, None),  # a digit of another script
        ("1\u00a02", 2, False, None),  # a space that XML does not have
        ("one", 1, False, None),
        ("", 0, False, []),
    ],
)
def test_finite_numbers_checks_the_count_and_that_all_are_finite(
    text: str, count: int, infinite: bool, numbers: list[float] | None
) -> None:
    """Every format has this rule. The refusal shows the text, the place and the line."""
    reading = Reading("file")
    if numbers is not None:
        assert reading.finite_numbers(element("<a/>"), "size", text, count, infinite) == numbers
        return
    with pytest.raises(ModelError, match=r"file: <a>: size is .*; it needs .*\(line 1\)"):
        reading.finite_numbers(element("<a/>"), "size", text, count, infinite)


def test_numbers_above_the_largest_plausible_value_are_refused() -> None:
    """A length of 1e308 means a damaged file: every result computed from it would be NaN."""
    reading = Reading("text")
    at = element('<a x="1"/>')
    assert reading.finite_numbers(at, "x", "-1e9 1e9", 2, largest=MOST) == [-1e9, 1e9]
    assert reading.finite_numbers(at, "x", "1e308", 1) == [1e308]
    with pytest.raises(ModelError, match=r'<a>: x is "0 -1e10"; .* beyond 1e\+09.*line 1'):
        reading.finite_numbers(at, "x", "0 -1e10", 2, largest=MOST)


def test_ignored_elements_are_listed_once_with_their_first_line() -> None:
    """One line counts all elements of a name."""
    reading = Reading("file")
    for child in element("<a>\n<b/><b/>\n<c/></a>"):
        reading.ignore(f"element <{tag_name(child)}>", child)
    lines = list(reading.ignored_lines())
    assert lines == [
        "ignored element <b> (2 times, first on line 2)",
        "ignored element <c> (line 3)",
    ]


def test_gravity_other_than_the_earths_is_remarked() -> None:
    """Values that differ only in the digits that files write are not remarked."""
    reading = Reading("file")
    for z in (GRAVITY, -9.81, -9.80665):
        reading.remark_gravity("world", 0.0, 0.0, z)
    assert not reading.remarks
    reading.remark_gravity("world", 0.0, 0.0, -1.62)
    assert reading.remarks[0].startswith("<world>: its gravity is (0, 0, -1.62)")
    for x, y in (
        (1.0, 1.0),
        (1.0, -1.0),
        (-1.0, 1.0),
        (0.0, -1.0),
        (NEARLY, 0.0),
    ):  # a tilted world
        reading.remarks.clear()
        reading.remark_gravity("world", x, y, -9.8)
        assert len(reading.remarks) == 1


def test_the_loops_option_accepts_keep_cut_and_refuse_only() -> None:
    """Any other word raises a ValueError."""
    assert [check_loops_option(word) for word in ("keep", "cut", "refuse")] == [
        "keep",
        "cut",
        "refuse",
    ]
    with pytest.raises(ValueError, match='loops must be "keep", "cut" or "refuse", got \'open\''):
        check_loops_option("open")


def test_a_pipe_a_device_and_a_huge_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every reader of a path refuses them at once and says what to do. So do files that an MJCF
    file names."""
    os.mkfifo(tmp_path / "pipe.urdf")
    for file in (tmp_path / "pipe.urdf", "/dev/zero"):
        for read in (wd.load, wd.load_urdf, wd.load_sdf, wd.load_mjcf):
            with time_limit(), pytest.raises(ModelError) as error:
                read(file)
            assert f"{file}: is a pipe, a socket or a device; give the path of a" in str(
                error.value
            )
    with (tmp_path / "hole.urdf").open("wb") as hole:
        hole.truncate(10 * 2**30)
    with pytest.raises(
        ModelError, match=r"has 10,240 MiB, more than the 64 MiB that are read; give"
    ):
        wd.load(tmp_path / "hole.urdf")
    brick = '<robot name="brick"><link name="brick"/></robot>'
    with time_limit(), pytest.raises(ModelError, match="is a pipe"):
        wd.load(brick, srdf=tmp_path / "pipe.urdf")
    (tmp_path / "brick.urdf").write_text(brick)
    monkeypatch.setattr(robot_source, "DESCRIPTION", len(brick))
    assert wd.load(tmp_path / "brick.urdf", floating_base=True).name == "brick"
    monkeypatch.setattr(robot_source, "DESCRIPTION", len(brick) - 1)
    with pytest.raises(ModelError, match=f"more than the {len(brick) - 1} bytes that are read"):
        wd.load(tmp_path / "brick.urdf")


@pytest.mark.parametrize(
    ("data", "encoding", "said"),
    [
        (b"<", None, "not well-formed XML"),
        (b"<!-- no element -->", None, "not well-formed XML"),
        (b"words", None, "not well-formed XML"),
        (b"\x00", None, "not well-formed XML"),
        (b"<!DOCTYPE r [<!ENTITY", None, "entities and external DTDs are never read"),
        (b" \n ", None, "the text is empty; it must contain one <robot> element"),
    ],
)
def test_text_without_an_element_is_refused(data: bytes, encoding: str | None, said: str) -> None:
    """Every error of the parser becomes one refusal with the source's name."""
    with pytest.raises(ModelError, match=f"^r: .*{said}"):
        xml_root("r", data, encoding, "<robot>")


def test_a_long_message_of_the_parser_is_shortened() -> None:
    """It is cut after 200 characters, and the line number follows."""
    name = "x" * 400
    with pytest.raises(ModelError) as refused:
        xml_root("r", f"<robot>\n<{name}>\n</robot>".encode(), None, "<robot>")
    said = str(refused.value).partition("cut short: ")[2]
    words, _, line = said.partition(" (line ")
    assert len(words) == 200 and words.startswith("Opening and ending tag mismatch: x")
    assert line.endswith("); correct the text or write it again")


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.GRAVITY == -9.8
    assert chosen.NEARLY == 0.02
