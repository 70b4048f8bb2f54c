// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The one place that includes SystemC. Debian's libsystemc is built as C++17; SC_CPLUSPLUS (set by
/// the build, see cmake/PodsimDependencies.cmake) makes its headers link from C++20.
#define SC_INCLUDE_DYNAMIC_PROCESSES  // sc_spawn, for the one-event-per-unit engine
#include <systemc>
