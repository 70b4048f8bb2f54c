// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What tests of sim/config share: configs to start from, and the one message a mistake must give.
#include "models/engine/error.hpp"
#include "sim/config/run_config.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace podsim::test {

/// A file of the repository.
std::string repository(const std::string& relative);

/// A small valid run config with the machine as an absolute file name; its kernel is "config_test", which exists in
/// the unit tests only and has the options mode (a | b), level (1 … 9) and strict (bool); mode b refuses strict.
nlohmann::json small_config();

/// The detail of the UserError that `act` must throw.
ErrorDetail user_error(const std::function<void()>& act);

/// Loads small_config() with `sets`.
RunConfig load_small(const std::vector<std::string>& sets = {});

/// The detail of the UserError that loading small_config() with `sets` must give.
ErrorDetail refused(const std::vector<std::string>& sets);

}  // namespace podsim::test
