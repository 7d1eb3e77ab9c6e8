"""Metadata of the one package that pip and colcon (ament_python) build."""

import re
import runpy
from pathlib import Path

import setuptools
from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "warpdyn/__init__.py").read_text()).group(1)

LICENCE = "license_expression" if int(setuptools.__version__.split(".")[0]) >= 77 else "license"
"""The argument that takes an SPDX expression; colcon builds with the older setuptools of a ROS distribution."""

PAGES = dict(
    re.findall(r"^(repository-code|url): *(\S+)$", (HERE / "CITATION.cff").read_text(), re.M)
)
"""Addresses of the project, which CITATION.cff alone holds; it names none yet."""

MESHES = ["trimesh>=4.6", "pycollada", "scipy", "pillow"]
"""What reads the meshes of collision shapes. pycollada: COLLADA files. scipy: hulls and normals of trimesh."""

RL = [
    "torch>=2.4",
    "gymnasium>=1.1",
    "rsl-rl-lib>=5.5,<6",
    "tensordict",
    "onnx",
    "onnxruntime",
]
"""Learning: environments for Gymnasium and rsl_rl, and policies as files."""

VIEWER = [*MESHES, "viser>=1.0,<2", "imageio", "websockets>=13", "rosbags>=0.10"]
"""Robots in the browser; pictures, and the connection to a headless one; the last reads the joint states of bags."""

LABELS = ["pyarrow>=18", "rosbags>=0.10"]
"""Logs that are labelled: Parquet, and joint states of bags."""

SITE = [
    'sphinx>=9,<10; python_version >= "3.11"',
    'sphinx>=8.1,<9; python_version < "3.11"',
    "furo",
    "myst-nb>=1.4",
    "sphinx-copybutton",
    "ipykernel",
    "codespell",
]
"""What makes the site of docs/, `bash scripts/docs.sh`."""

TEST = [
    *RL,
    *VIEWER,
    *LABELS,
    *SITE,
    "pytest>=8",
    "pytest-xdist",
    "coverage",  # with pytest-cov here, colcon would measure it, which takes ten times as long
    "hypothesis",
    "mpmath<1.4",  # as sympy has it, which torch needs
    "matplotlib",
    "ruff",
    "mypy",
    "pin",
    "mujoco",
    "xacro",
    "usd-core>=24.11",
    "pyarrow",
    "idyntree",
    "example-robot-data",
    "skrl",
    "stable-baselines3",
    "torch==2.13.0",
    "jax",
    "ray>=2.40",
]

BENCH = [
    "matplotlib",
    "example-robot-data",
    "pin",
    "mujoco",
    "mujoco-mjx",
    "mujoco-warp",
    "newton",
    "adam-robotics",
    "jaxsim",
    "pytorch_kinematics",
    "torch==2.13.0",
    "jax",
]
"""The peers that `python -m benchmarks` measures; those that are missing are named and left out."""


def files(folder: str, pattern: str) -> list[str]:
    return sorted(map(str, Path(folder).glob(pattern)))


class BuildWithStub(build_py):
    """Writes the stub for editors before setuptools lists files; editable installs come here too."""

    def finalize_options(self) -> None:
        runpy.run_path(str(HERE / "scripts/robot_stub.py"))["write"]()
        super().finalize_options()


setup(
    name="warpdyn",
    version=VERSION,
    description="Batched rigid-body dynamics for robots on NVIDIA Warp kernels, with a ROS 2 node",
    long_description=(HERE / "README.md").read_text() if (HERE / "README.md").exists() else "",
    long_description_content_type="text/markdown",
    **{LICENCE: "Apache-2.0"},
    author="The warpdyn developers",
    maintainer="The warpdyn developers",
    keywords=[
        "robotics",
        "rigid-body dynamics",
        "kinematics",
        "inverse kinematics",
        "simulation",
        "reinforcement learning",
        "differentiable",
        "code generation",
        "GPU",
        "NVIDIA Warp",
        "URDF",
        "MJCF",
        "ROS 2",
    ],
    project_urls={{"repository-code": "Source", "url": "Homepage"}[k]: v for k, v in PAGES.items()},
    python_requires=">=3.10",
    packages=find_packages(include=["warpdyn", "warpdyn.*", "ros2_node", "ros2_node.*"]),
    package_data={
        "warpdyn.robots": ["*.urdf", "*.srdf"],
        "warpdyn.codegen": ["*.h"],
        "warpdyn.codegen.bytecode": ["*.h"],
        "warpdyn.user_kernels": ["*.pyi"],
        "warpdyn.rl": ["clips/*.npz", "policies/*.onnx"],
        "warpdyn": ["py.typed"],
        "ros2_node.demo": ["*.xml"],
        "ros2_node.ros2_control": ["sources/*"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/warpdyn"]),
        ("share/warpdyn", ["package.xml"]),
        ("share/warpdyn/launch", files("launch", "*.launch.py")),
        ("share/warpdyn/config", files("config", "*.yaml") + files("config", "*.xml")),
        ("share/warpdyn/rviz", files("rviz", "*.rviz")),
    ],
    install_requires=[
        "warp-lang>=1.19,<1.20",  # private modules of it are used, warp._src
        "numpy>=1.26",
        "urdf-parser-py>=0.0.4",
        "lxml>=5",
        "tqdm",  # progress bars
        "rich",  # tables of the command
        "typing_extensions>=4.3; python_version < '3.11'",  # named tuples that are generic
    ],
    extras_require={
        "torch": ["torch>=2.4"],
        "jax": ["jax>=0.4.30"],
        "ros": [
            "ros-rclpy[fastrtps]",
            "ros-sensor-msgs",
            "ros-geometry-msgs",
            "ros-nav-msgs",
            "ros-rosgraph-msgs",
            "ros-std-msgs",
            "ros-std-srvs",
            "ros-trajectory-msgs",
            "ros-diagnostic-msgs",
            "ros-lifecycle-msgs",
        ],
        "rosdemo": ["mujoco", "matplotlib"],
        "rostest": [
            "cyclonedds",
            "colcon-common-extensions",
            "colcon-ros",
            "catkin_pkg",
            "setuptools<80",
            "pyyaml",
        ],
        "formats": ["xacro", "mujoco"],
        "usd": ["usd-core>=24.11"],
        "meshes": MESHES,
        "rl": RL,
        "wandb": [*RL, "wandb"],
        "viewer": VIEWER,
        "labels": LABELS,
        "ray": [*LABELS, "ray>=2.40"],
        "demo": ["matplotlib"],
        "bench": BENCH,
        "docs": [*RL, *VIEWER, *LABELS, *SITE, "matplotlib"],
        "test": TEST,
    },
    cmdclass={"build_py": BuildWithStub},
    entry_points={
        "console_scripts": [
            "warpdyn = warpdyn.cli.main:main",
            "warpdyn_node = ros2_node:run_node",
            "warpdyn_lifecycle_node = ros2_node:run_lifecycle_node",
            "warpdyn_view = ros2_node:run_view",
            "warpdyn_state_source = ros2_node.demo:run_state_source",
            "warpdyn_plant = ros2_node.demo:run_plant",
            "warpdyn_walker = ros2_node.demo:run_walker",
            "warpdyn_teleoperation = ros2_node.demo:run_teleoperation",
            "warpdyn_hand = ros2_node.demo:run_hand",
        ],
    },
    zip_safe=False,
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Mathematics",
        "Topic :: Scientific/Engineering :: Physics",
        "Topic :: Software Development :: Code Generators",
        "Typing :: Typed",
    ],
)
