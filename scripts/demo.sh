#!/usr/bin/env bash
# A demonstration in one command: bash scripts/demo.sh [robot.urdf or the name of a bundled robot] [--no-ros]
# It installs warpdyn into .venv, computes and checks 4,096 random states, draws demo.png, and then runs the ROS 2 node
# on the same robot.
set -euo pipefail

usage="usage: bash scripts/demo.sh [ROBOT] [--no-ros]
ROBOT: a URDF file, or a bundled robot (default: panda). --no-ros: leave the live ROS 2 part out."
robot=panda
ros=yes
for argument in "$@"; do
    case $argument in
        --no-ros) ros=no ;;
        -h | --help) echo "$usage" && exit 0 ;;
        -*) echo "unknown option $argument"$'\n'"$usage" >&2 && exit 2 ;;
        *) robot=$argument ;;
    esac
done
if [[ -f $robot ]]; then
    robot=$(realpath "$robot")
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/venv.sh
if [[ $ros == yes ]]; then
    set_up demo ros,rosdemo # one installation takes less time than two
else
    set_up demo
fi
.venv/bin/python -m examples.demo.demo "$robot"

if [[ $ros == no ]]; then
    exit 0
elif [[ -f scripts/ros_demo.sh ]]; then
    bash scripts/ros_demo.sh "$robot"
else
    echo "the live ROS 2 part is not here yet (scripts/ros_demo.sh)"
fi
