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

# Reads ninja's "[done/all] …" lines: a running count on a terminal, a line a quarter elsewhere.
show_progress() {
    local line count of quarter=0
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
            count=${BASH_REMATCH[1]} of=${BASH_REMATCH[2]}
            if [ -t 1 ]; then
                printf '\r  %d of %d steps' "$count" "$of"
            elif ((count * 4 / of > quarter)); then
                quarter=$((count * 4 / of))
                echo "  $count of $of steps"
            fi
        fi
    done
    if [ -t 1 ] && [ -n "${of:-}" ]; then
        echo
    fi
}

# build_release [target …]: says how far it is, and what the compiler said if it fails.
build_release() {
    local targets=() log
    if [ $# -gt 0 ]; then
        targets=(--target "$@")
    fi
    log=$(mktemp)
    if ! cmake --build "$build" --parallel "$jobs" "${targets[@]}" 2>&1 | tee "$log" | show_progress; then
        grep -v '^\[[0-9]*/[0-9]*\] ' "$log" >&2 || true
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
