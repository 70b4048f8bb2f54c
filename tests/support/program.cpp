// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.hpp"

#include "tests/support/temp_dir.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace podsim::test {

namespace {

/// Exit code of a child that could not exec, as shells have it.
constexpr int kCannotRun = 127;

void redirect(const std::string& path, int flags, int to) {
    const int file = ::open(path.c_str(), flags, 0600);
    if (file < 0 || ::dup2(file, to) < 0) {
        ::_exit(kCannotRun);
    }
    ::close(file);
}

[[noreturn]] void become(const std::vector<std::string>& arguments, const ProgramOptions& options, const TempDir& dir) {
    redirect(dir.file("in"), O_RDONLY, STDIN_FILENO);
    redirect(dir.file("out"), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(dir.file("err"), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    if (!options.working_dir.empty() && ::chdir(options.working_dir.c_str()) != 0) {
        ::_exit(kCannotRun);
    }
    for (const std::string& setting : options.environment) {
        ::putenv(const_cast<char*>(setting.c_str()));
    }
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(kCannotRun);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
    // Files, not pipes: a program that says much on both streams cannot block on either.
    const TempDir dir;
    dir.write("in", options.input);
    if (arguments.empty() || ::access(arguments[0].c_str(), X_OK) != 0) {
        throw std::runtime_error("cannot run " + (arguments.empty() ? std::string("nothing") : arguments[0]));
    }
    const pid_t child = ::fork();
    if (child < 0) {
        throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    }
    if (child == 0) {
        become(arguments, options, dir);
    }
    const auto give_up = std::chrono::steady_clock::now() + options.timeout;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > give_up) {
            ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            throw std::runtime_error(arguments[0] + " did not end in time; it said: " + dir.read("out") +
                                     dir.read("err"));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, dir.read("out"), dir.read("err")};
}

}  // namespace podsim::test
