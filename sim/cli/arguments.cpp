// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/arguments.hpp"

#include "models/engine/error.hpp"
#include "sim/config/nearest.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>

namespace podsim {

namespace {

[[noreturn]] void misuse(const std::string& expected, const std::string& found, const std::string& hint) {
    throw UserError({"", "", expected, found, hint});
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(command->get_name());
    }
    return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

/// CLI11 would take an unknown command for a stray argument; said before it parses.
void check_command(const CLI::App& app, const std::vector<std::string>& arguments) {
    const auto names = command_names(app);
    if (arguments.empty()) {
        misuse("a command", "none", name_hint("", names) + "; podsim --help");
    }
    const std::string& first = arguments.front();
    const auto known = [&](const std::vector<std::string>& valid) {
        return std::find(valid.begin(), valid.end(), first) != valid.end();
    };
    if (first.starts_with('-') && first != "-h" && !known(option_names(app))) {
        misuse("a command", fmt::format("\"{}\"", first), "options come after it; " + name_hint("", names));
    }
    if (!first.starts_with('-') && !known(names)) {
        misuse("a command", fmt::format("\"{}\"", first), name_hint(first, names));
    }
}

const char* missing_argument(const std::string& command) {
    return command == "compare" ? "A and B, each a result or a config"
           : command == "sweep" ? "SWEEP.json"
                                : "CONFIG.json";
}

/// One message in our words for whatever CLI11 refuses.
[[noreturn]] void explain_refusal(const CLI::App& app, const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    const std::string name = chosen.empty() ? "podsim" : "podsim " + command.get_name();
    const std::string help = name + " --help";
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        const auto rest = app.remaining(true);
        const std::string extra = rest.empty() ? "" : rest.front();
        if (extra.starts_with('-')) {
            misuse(fmt::format("an option of {}", name), fmt::format("\"{}\"", extra),
                   name_hint(extra.substr(0, extra.find('=')), option_names(command)));
        }
        misuse(fmt::format("no further argument for {}", name), fmt::format("\"{}\"", extra), help);
    }
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        // Of two arguments the first may be there.
        const CLI::Option* first = command.get_option_no_throw("A");
        const bool lone = first != nullptr && first->count() > 0;
        misuse(chosen.empty() ? "a command" : missing_argument(command.get_name()),
               lone ? fmt::format("only \"{}\"", first->as<std::string>()) : "none", help);
    }
    const std::string text = error.what();  // CLI11 begins it with the option's name and a colon
    std::string option = text.substr(0, text.find_first_of(": "));
    if (!option.starts_with('-')) {
        option = "every option";
    }
    const CLI::Option* known = command.get_option_no_throw(option);
    const bool flag = known != nullptr && known->get_items_expected_max() == 0;
    misuse(flag ? fmt::format("{} at most once, without a value", option)
                : fmt::format("{} with exactly one value{}", option, option == "--set" ? " each time" : ", once"),
           "something else", help);
}

/// The number given with an option, from 1 on; 0 where the option is not there.
std::size_t number_option(const CLI::App& command, const char* name, const std::string& text, std::size_t most) {
    if (command.count(name) == 0) {
        return 0;
    }
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most) {
        misuse(fmt::format("{} with a number from 1 to {}", name, most), fmt::format("\"{}\"", text), "");
    }
    return number;
}

constexpr std::size_t kMostJobs = 1024;
constexpr std::size_t kMostSamples = 1000;

/// What was meant as the next option is no name.
void refuse_name(const std::string& expected, const std::string& value) {
    if (value.empty() || value.starts_with("--")) {
        misuse(expected, value.empty() ? "an empty argument" : fmt::format("\"{}\"", value), "");
    }
}

std::optional<std::filesystem::path> file_option(const CLI::App& command, const char* name, const std::string& value) {
    if (command.count(name) == 0) {
        return std::nullopt;
    }
    refuse_name(fmt::format("{} with a file's name", name), value);
    return value;
}

std::optional<std::filesystem::path> folder_option(const CLI::App& command, const std::string& value) {
    if (command.count("--out") == 0) {
        return std::nullopt;
    }
    refuse_name("--out with a folder's name", value);
    return value;
}

void read_validate(const CLI::App& validate, const std::string& jobs, const std::string& samples,
                   const std::string& out_dir, Arguments& out) {
    for (const char* name : {"--quick", "--role", "--bands", "--jobs", "--out"}) {
        if (out.components && validate.count(name) > 0) {
            misuse(fmt::format("{} without --components", name), "both", "it is about whole kernels");
        }
    }
    if (validate.count("--role") > 0 && out.role != "fitted" && out.role != "predicted") {
        misuse("--role with fitted or predicted", fmt::format("\"{}\"", out.role),
               name_hint(out.role, {"fitted", "predicted"}));
    }
    out.jobs = number_option(validate, "--jobs", jobs, kMostJobs);
    out.samples = number_option(validate, "--bands", samples, kMostSamples);
    out.out_dir = folder_option(validate, out_dir);
}

}  // namespace

Arguments parse_arguments(const std::vector<std::string>& arguments) {
    Arguments out;
    std::string config;
    std::string out_dir;
    CLI::App app("Simulates the MoE Dispatch operator on an Ascend A3 SuperPod.", "podsim");
    app.set_version_flag("--version", std::string("podsim ") + PODSIM_VERSION);
    app.set_help_flag("--help,-h", "Print this and leave");
    app.require_subcommand(1);
    const auto add_config = [&](CLI::App* command) {
        command->set_help_flag("--help,-h", "Print this and leave");
        command->add_option("CONFIG", config, "Run config (podsim.run/1)")->required();
        command
            ->add_option("--set", out.sets,
                         "/pointer=value: change the config; may be repeated. The value is read as JSON, else as text; "
                         "/machine/…/x=56 sets that parameter's value")
            ->type_name("/POINTER=VALUE")
            ->allow_extra_args(false);
        command->add_flag("--json", out.json, "One JSON document on standard output, nothing else there");
    };
    CLI::App* run = app.add_subcommand("run", "Simulate, check every output byte, say where the time went");
    add_config(run);
    run->add_option("--out", out_dir, "Write result.json, config.json and tables into this folder")->type_name("DIR");
    CLI::App* check = app.add_subcommand("check", "Validate a config; print it in full, with window size and rows");
    add_config(check);

    CLI::App* sweep = app.add_subcommand("sweep", "Run every point of a sweep file, several at a time; a table of all");
    sweep->set_help_flag("--help,-h", "Print this and leave");
    sweep->add_option("SWEEP", config, "Sweep file (podsim.sweep/1)")->required();
    sweep->add_option("--out", out_dir, "Write results.csv and a folder for every point into this one; required")
        ->type_name("DIR");
    std::string jobs;
    sweep->add_option("--jobs", jobs, "Points at a time; the host's cores when left out")->type_name("N");
    sweep->add_flag("--resume", out.resume, "Keep points in DIR that are complete and have the same config");

    CLI::App* compare = app.add_subcommand("compare", "Two runs beside each other; A and B are results or configs");
    compare->set_help_flag("--help,-h", "Print this and leave");
    std::string a, b;
    compare->add_option("A", a, "Result folder, result.json, or run config, which is run")->required();
    compare->add_option("B", b, "The same, for the other run")->required();
    compare->add_option("--out", out_dir, "Write compare.json, and the files of configs that were run")
        ->type_name("DIR");
    compare->add_flag("--json", out.json, "One JSON document on standard output, nothing else there");
    compare->add_flag("--different-workloads", out.different_workloads, "Compare runs that dispatch different things");

    CLI::App* validate = app.add_subcommand("validate", "Published figures beside simulated ones, with errors");
    validate->set_help_flag("--help,-h", "Print this and leave");
    std::string machine, published, samples;
    validate->add_flag("--components", out.components,
                       "Single pieces of hardware, by microbenchmarks; else whole kernels");
    validate->add_flag("--quick", out.quick, "Whole kernels: the first seed only, and nothing else assumed");
    validate->add_option("--role", out.role, "Whole kernels: only figures that were fitted, or predicted")
        ->type_name("fitted|predicted");
    validate
        ->add_option(
            "--bands", samples,
            "Whole kernels: run each also on N machines drawn from the parameters' ranges; prints p10, p50, p90")
        ->type_name("N");
    validate->add_option("--jobs", jobs, "Whole kernels: runs at a time; the host's cores when left out")
        ->type_name("N");
    validate->add_option("--out", out_dir, "Whole kernels: keep the runs in this folder")->type_name("DIR");
    validate->add_option("--machine", machine, "Machine file (podsim.machine/1) instead of the built-in atlas_a3_pod")
        ->type_name("FILE");
    validate
        ->add_option("--published", published,
                     "Published figures instead of the built-in configs/validation/kernels.json or components.json")
        ->type_name("FILE");
    validate->add_flag("--json", out.json, "One JSON document on standard output, nothing else there");

    check_command(app, arguments);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
    try {
        app.parse(reversed);
    } catch (const CLI::CallForHelp&) {
        out.text = app.help();
        return out;
    } catch (const CLI::CallForVersion& version) {
        out.text = std::string(version.what()) + "\n";
        return out;
    } catch (const CLI::ParseError& error) {
        explain_refusal(app, error);
    }
    out.command = run->parsed()       ? Command::run
                  : check->parsed()   ? Command::check
                  : sweep->parsed()   ? Command::sweep
                  : compare->parsed() ? Command::compare
                                      : Command::validate;
    if (validate->parsed()) {
        read_validate(*validate, jobs, samples, out_dir, out);
        out.machine = file_option(*validate, "--machine", machine);
        out.published = file_option(*validate, "--published", published);
        return out;
    }
    out.sides = {a, b};
    if (compare->parsed() ? a.empty() || b.empty() : config.empty()) {
        misuse("a config file's name", "an empty argument", "");
    }
    out.config = config;
    if (sweep->parsed()) {
        if (sweep->count("--out") == 0) {
            misuse("--out DIR", "none", "podsim sweep --help");
        }
        out.jobs = number_option(*sweep, "--jobs", jobs, kMostJobs);
    }
    for (const CLI::App* command : {run, sweep, compare}) {
        if (auto folder = folder_option(*command, out_dir)) {
            out.out_dir = folder;
        }
    }
    return out;
}

}  // namespace podsim
