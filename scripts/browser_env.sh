# Sourced by test.sh; also by itself: bash scripts/browser_env.sh. The browser that the viewer's tests look at pages with: Debian's
# package chromium, which draws without a graphics card. Installed where nothing needs to be asked: as root, or by sudo without
# a password. Else a line says what to install, and those tests are skipped with their reason (.ci/run refuses that).
# shellcheck shell=bash

install_browser() {
    local program as_root=()
    for program in chromium chromium-browser google-chrome google-chrome-stable chrome; do
        if command -v "$program" >/dev/null; then
            return
        fi
    done
    if [[ $(id -u) != 0 ]]; then
        as_root=(sudo -n)
    fi
    if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
        echo "installing the package chromium, for tests of the viewer ..."
        "${as_root[@]}" apt-get update -qq || true # the lists that are there may do
        if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
            chromium >/dev/null; then
            return
        fi
    fi
    echo "no browser is installed, and tests of the viewer in one are skipped; on Debian and Ubuntu: apt-get install chromium" >&2
}

install_browser
