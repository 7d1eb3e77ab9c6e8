#!/usr/bin/env bash
# The live part of the demo, warpdyn_node and a MuJoCo arm in two processes over DDS: bash scripts/ros_demo.sh [ROBOT]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/venv.sh
ROS_EXTRAS=ros,rosdemo
source scripts/ros_env.sh
exec .venv/bin/python -m examples.demo.live_arm --robot "${1:-panda}" --plot demo_ros2.png
