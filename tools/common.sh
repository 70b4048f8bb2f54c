# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by the tools: where things are, and the one release build they share.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit
build=build/release
jobs=$(nproc)
python=/usr/bin/python3 # Debian's: another one first in PATH lacks its modules

# configure_release [-DNAME=VALUE …]: warnings are errors for the compiler this is tested with (g++ 12) only, so
# that tools/demo and tools/test compile alike and share their objects, and a newer compiler still builds.
configure_release() {
    local werror=OFF log
    if [ "$("${CXX:-g++}" -dumpversion)" = 12 ]; then
        werror=ON
    fi
    log=$(mktemp)
    if ! cmake --preset release -DPODSIM_WERROR=$werror "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# build_release [target …]: quiet while all goes well.
build_release() {
    local targets=() log
    if [ $# -gt 0 ]; then
        targets=(--target "$@")
    fi
    log=$(mktemp)
    if ! cmake --build "$build" --parallel "$jobs" "${targets[@]}" >"$log" 2>&1; then
        grep -v '^\[[0-9]*/[0-9]*\] ' "$log" >&2 || true
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
