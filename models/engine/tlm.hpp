// SPDX-License-Identifier: Apache-2.0
#pragma once
/// TLM-2.0 beside systemc.hpp, kept apart because few files need it and it is slow to compile.
#include "models/engine/systemc.hpp"

#include <tlm_utils/simple_target_socket.h>
#include <tlm>
