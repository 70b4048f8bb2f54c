// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/process_pool.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process.hpp>
#include <boost/process/extend.hpp>

#include <chrono>
#include <csignal>
#include <map>

namespace podsim {

namespace {

namespace bp = boost::process;
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// In the child, before it becomes the program.
void detach_from_terminal(pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {  // it died before the line above
        ::_exit(1);
    }
}

class Runner {
public:
    explicit Runner(const ProcessPool& pool) : pool_(pool) {}

    int run() {
        signals_.async_wait([this](const boost::system::error_code& error, int signal) {
            if (!error) {
                stop(signal);
            }
        });
        beat();
        fill();
        io_.run();
        return stopped_by_;
    }

private:
    struct Running {
        bp::child child;
        std::size_t id = 0;
        Clock::time_point since;
    };

    void fill() {
        while (stopped_by_ == 0 && running_.size() < pool_.jobs && !drained_) {
            if (const auto command = pool_.next()) {
                start(*command);
            } else {
                drained_ = true;
            }
        }
        if (running_.empty()) {
            signals_.cancel();
            timer_.cancel();
        }
    }

    void start(const ProcessCommand& command) {
        const std::size_t key = started_++;
        std::error_code error;
        const pid_t parent = ::getpid();
        bp::child child(
            command.program.string(), bp::args(command.arguments), bp::start_dir(command.folder.string()),
            bp::std_in<bp::null, bp::std_out> bp::null, bp::std_err > command.messages.string(), io_, error,
            // Boost goes on with its list of children after this: nothing may be started from inside.
            bp::on_exit([this, key](int, const std::error_code&) { asio::post(io_, [this, key] { end(key); }); }),
            bp::extend::on_exec_setup = [parent](auto&) { detach_from_terminal(parent); });
        if (error) {
            throw IoError(fmt::format("{}: cannot be started: {}", command.program.string(), error.message()));
        }
        running_.emplace(key, Running{std::move(child), command.id, Clock::now()});
    }

    void end(std::size_t key) {
        const auto found = running_.find(key);
        const int status = found->second.child.native_exit_code();
        ProcessEnd end;
        end.id = found->second.id;
        end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        end.wall_s = std::chrono::duration<double>(Clock::now() - found->second.since).count();
        running_.erase(found);
        if (stopped_by_ == 0) {
            pool_.ended(end);
        }
        fill();
    }

    void stop(int signal) {
        stopped_by_ = signal;
        for (auto& [key, running] : running_) {
            ::kill(running.child.id(), SIGKILL);
        }
        fill();
    }

    void beat() {
        timer_.expires_after(std::chrono::seconds(1));
        timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) {
                if (pool_.tick) {
                    pool_.tick(running_.size());
                }
                beat();
            }
        });
    }

    const ProcessPool& pool_;
    asio::io_context io_;
    asio::signal_set signals_{io_, SIGINT, SIGTERM, SIGHUP};
    asio::steady_timer timer_{io_};
    std::map<std::size_t, Running> running_;
    std::size_t started_ = 0;
    bool drained_ = false;
    int stopped_by_ = 0;
};

}  // namespace

int ProcessPool::run() const { return Runner(*this).run(); }

std::filesystem::path this_program() {
    std::error_code error;
    auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) {
        throw IoError("/proc/self/exe: " + error.message());
    }
    return path;
}

}  // namespace podsim
