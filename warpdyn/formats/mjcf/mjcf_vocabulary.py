"""MJCF: words of a file that mean nothing to this reader, and contradictions that MuJoCo refuses.

MuJoCo refuses words that its version does not know. Here a remark names them, so that files of other
versions load and a misspelled word is not lost without a trace.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..robot_source import tag_name
from .mjcf_defaults import TURNS
from .mjcf_values import ACTUATORS, Element, MjcfValues

POSE = f"pos {' '.join(TURNS)}"
"""Attributes of a placement."""

SHAPE = f"name class {POSE} type size fromto mesh material rgba group user"
"""Attributes of a geom and of a site."""

SOFT_LIMIT = "solreflimit solimplimit solreffriction solimpfriction margin"
EFFORT = "actuatorfrclimited actuatorfrcrange"

JOINT = (
    f"name class type pos axis ref range limited group user {EFFORT} {SOFT_LIMIT} actuatorgravcomp "
    "armature damping frictionloss stiffness springref springdamper springyield"
)
GEOM = (
    f"{SHAPE} mass density shellinertia fitscale hfield contype conaffinity condim priority friction solref "
    "solimp solmix margin gap surfacevel adhesion fluidshape fluidcoef castshadow"
)
TENDON = (
    f"name class range limited group user {EFFORT} {SOFT_LIMIT} armature damping frictionloss stiffness "
    "springlength springyield width material rgba"
)
CONSTRAINT = "name class active solref solimp"
ENDS = "body1 body2 site1 site2 anchor"

TARGETED = "name class group user ctrlrange forcerange forcelimited delay nsample interp"
"""Attributes of all actuators."""

DRIVEN = (
    f"{TARGETED} joint jointinparent tendon site refsite slidersite cranksite cranklength lengthrange gear "
    "ctrllimited armature damping"
)
"""Attributes of actuators that joints and tendons can have."""

ATTRIBUTES: Mapping[str, str] = {
    "mujoco/compiler": "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict "
    "coordinate discardvisual eulerseq exactmeshinertia fitaabb fusestatic inertiafromgeom inertiagrouprange "
    "meshdir passthrough savecanonical savecompiled saveinertial settotalmass strippath texturedir usethread",
    "mujoco/option": "actuatorgroupdisable ccd_iterations ccd_tolerance cone density gravity impratio "
    "integrator iterations jacobian ls_iterations ls_tolerance magnetic noslip_iterations noslip_tolerance "
    "o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep "
    "tolerance viscosity wind",
    "option/flag": "actuation autoreset clampctrl constraint contact damper diagexact energy equality "
    "eulerdamp filterparent frictionloss fwdinv gravity invdiscrete ipc island limit midphase multiccd "
    "nativeccd override refsafe sensor sleep speculative spring warmstart",
    "mujoco/worldbody": f"name childclass {POSE} user",
    "body": f"name childclass {POSE} gravcomp mocap user sleep simple fuse",
    "frame": f"name childclass {POSE}",
    "inertial": f"{POSE} mass diaginertia fullinertia",
    "joint": JOINT,
    "freejoint": "name group align",
    "geom": GEOM,
    "site": SHAPE,
    "tendon": TENDON,
    "equality": CONSTRAINT,
    "pair": "name class geom1 geom2 condim friction solref solimp solreffriction margin gap adhesion",
    "contact/exclude": "name body1 body2",
    "tendon/fixed": TENDON,
    "tendon/spatial": TENDON,
    "fixed/joint": "joint coef",
    "equality/connect": f"{CONSTRAINT} {ENDS}",
    "equality/weld": f"{CONSTRAINT} {ENDS} relpose torquescale",
    "equality/joint": f"{CONSTRAINT} joint1 joint2 polycoef",
    "equality/tendon": f"{CONSTRAINT} tendon1 tendon2 polycoef",
    "keyframe/key": "name time qpos qvel act ctrl mpos mquat plastic",
    "general": f"{DRIVEN} gaintype gainprm biastype biasprm dyntype dynprm inheritrange actdim actearly "
    "actlimited actrange body",
    "motor": DRIVEN,
    "position": f"{DRIVEN} kp kv dampratio timeconst inheritrange",
    "velocity": f"{DRIVEN} kv",
    "damper": f"{DRIVEN} kv",
    "intvelocity": f"{DRIVEN} kp kv dampratio inheritrange actlimited actrange",
}
"""The attributes that an element may have, by its parent and itself, or by itself in any place.
Elements that are not listed are drawn or stored as they are, or left out with a remark."""

CHILDREN: Mapping[str, str] = {
    "mujoco": "compiler option size statistic visual default extension asset worldbody deformable contact "
    "tendon equality actuator sensor custom keyframe",
    "default": "default mesh texture material joint geom site camera light pair equality tendon "
    f"{' '.join(ACTUATORS)}",
    "contact": "pair exclude",
    "keyframe": "key",
    "option": "flag",
    "fixed": "joint",
}
"""The elements that these elements may have."""

MOST_NUMBERS: Mapping[str, int] = {
    "gear": 6,
    "springlength": 2,
    "solreflimit": 2,
    "solimplimit": 5,
    "solreffriction": 2,
    "solimpfriction": 5,
}
"""Largest count of numbers in attributes that may have fewer."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "cone": ("pyramidal", "elliptic"),
    "integrator": ("Euler", "RK4", "implicit", "implicitfast"),
}
"""The words of these attributes of <option>."""


def check_words(values: MjcfValues, root: Element) -> None:
    """Remark on elements and attributes that this reader does not know. Raises for attributes with too
    many numbers, for unknown words of <option>, for repeated names, and for several outermost default
    classes."""
    classes = {each.get("class", "main"): each for each in root.iterfind("default")}
    if len(classes) > 1:
        *_, last = classes.values()
        raise values.refusal(last, f"the outermost classes are {', '.join(classes)}; name one")
    for element in root.iter("*"):
        _check_element(values, element)
    _check_names(values, root)


def _check_element(values: MjcfValues, element: Element) -> None:
    tag, parent = tag_name(element), element.getparent()
    above = "" if parent is None else tag_name(parent)
    if above in CHILDREN and tag not in CHILDREN[above].split():
        values.ignore(f"element <{tag}> of <{above}>", element)
    known = ATTRIBUTES.get(f"{above}/{tag}") or ATTRIBUTES.get(tag)
    if known is None or _is_stored_as_it_is(element):
        return
    # Attributes in braces are this reader's own, from <attach>.
    written = {str(k): str(x) for k, x in element.attrib.items() if str(k)[0] != "{"}
    for key in (each for each in written if each not in known.split()):
        values.ignore(f'attribute "{key}" of <{tag}>', element)
    for key, most in MOST_NUMBERS.items():
        if len(written.get(key, "").split()) > most:
            message = f'{key} is "{written[key]}"; it must be at most {most} numbers'
            raise values.refusal(element, message)
    for key, words in CHOICES.items() if f"{above}/{tag}" == "mujoco/option" else ():
        values.choice(element, key, written, words[0], words)


def _check_names(values: MjcfValues, root: Element) -> None:
    """Refuse two geoms or two sites of one name."""
    for tag in ("geom", "site"):
        names = set[str]()
        for element in root.iterfind(f"worldbody//{tag}"):
            name = element.get("name", "")
            if name and name in names:
                message = f'two {tag}s are named "{name}"; give each its own name'
                raise values.refusal(element, message)
            names.add(name)


def _is_stored_as_it_is(element: Element) -> bool:
    """True inside of a section whose content is data, or is left out as a whole."""
    around = {tag_name(each) for each in element.iterancestors()}
    return not around.isdisjoint(
        ("sensor", "visual", "extension", "custom", "deformable", "asset", "spatial", "flexcomp")
    )
