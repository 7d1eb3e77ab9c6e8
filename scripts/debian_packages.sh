# Installs the Debian packages that tests need and that no wheel contains: bash scripts/debian_packages.sh. test.sh runs it.
# The packages are a browser that renders the viewer's pages without a graphics card, and compilers for exported code:
# clang with its sanitizers, a cross compiler for aarch64 with qemu to run its programs, CMake, Eigen, and the linker for WebAssembly.
# It installs only without a question: as root, or by sudo without a password. `test.sh --no-apt` skips it. Otherwise a
# line says what to install, and those tests are skipped with a reason (.ci/run does not accept that for the browser).
# shellcheck shell=bash

debian_packages() { # the purpose, then packages
    local purpose=$1 as_root=()
    shift
    if [[ $(id -u) != 0 ]]; then
        as_root=(sudo -n)
    fi
    if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
        echo "installing for $purpose: $* ..."
        "${as_root[@]}" apt-get update -qq || true # the present lists may be enough
        if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
            "$@" >/dev/null; then
            return
        fi
    fi
    echo "skipped: $purpose. To run them on Debian or Ubuntu: apt-get install $*" >&2
}

any_of() { # whether one of these programs is there
    local program
    for program in "$@"; do
        if command -v "$program" >/dev/null; then
            return 0
        fi
    done
    return 1
}

if ! any_of chromium chromium-browser google-chrome google-chrome-stable chrome; then
    debian_packages "tests of the viewer in a browser" chromium
fi
if ! { any_of clang++ && any_of cmake && any_of aarch64-linux-gnu-g++ && any_of qemu-aarch64 && any_of wasm-ld &&
    [[ -d /usr/include/eigen3 ]] && [[ -e $(clang++ --print-file-name=libclang_rt.asan-x86_64.a) ||
        $(uname -m) != x86_64 ]]; }; then
    debian_packages "tests of exported code by other compilers" clang libclang-rt-dev cmake g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libeigen3-dev lld
fi
