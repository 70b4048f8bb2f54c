// SPDX-License-Identifier: Apache-2.0
// The entry point of every test executable: Catch2 inside SystemC's sc_main.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "models/engine/systemc.hpp"

#include <cstdlib>
#include <string>

namespace {

constexpr int kUnusable = 250;

/// A SystemC warning fails the test that caused it. An error is thrown, so that a test may expect it; one
/// that nobody catches fails the test too. Nothing is printed raw.
void report_to_catch(const sc_core::sc_report& report, const sc_core::sc_actions&) {
    const std::string text = std::string(report.get_msg_type()) + ": " + report.get_msg();
    switch (report.get_severity()) {
        case sc_core::SC_INFO:
            return;
        case sc_core::SC_WARNING:
            FAIL_CHECK("SystemC warning " << text);
            return;
        default:
            throw sc_core::sc_report(report);
    }
}

/// catch_discover_tests hands the names to CMake as a list: one of these characters in a name would quietly
/// swallow the tests after it, so every run of the executable fails until the name is mended.
bool names_suit_cmake(const Catch::IConfig& config) {
    bool good = true;
    for (const Catch::TestCase& test : Catch::getAllTestCasesSorted(config)) {
        if (test.name.find_first_of("[];\\\"") != std::string::npos) {
            Catch::cerr() << "test name has one of []; backslash or quote: " << test.name << '\n';
            good = false;
        }
    }
    return good;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    sc_core::sc_report_handler::set_handler(report_to_catch);
    Catch::Session session;
    const int refused = session.applyCommandLine(argc, argv);
    if (refused != 0) {
        return refused;
    }
    const bool listing = session.configData().listTestNamesOnly || session.configData().listReporters;
    return listing || names_suit_cmake(session.config()) ? session.run() : kUnusable;
}

// SystemC prints its banner before it calls sc_main, hence a main() of our own.
int main(int argc, char* argv[]) {
    ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
