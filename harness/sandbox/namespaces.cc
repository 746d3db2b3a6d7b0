#include "harness/sandbox/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <string_view>

#include "harness/core/process.h"

namespace kernelwright {
namespace {

bool write_small(const char* path, std::string_view text) {
    const UniqueFd fd(::open(path, O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

bool enter_namespaces(int flags) {
    const auto uid = ::geteuid();
    const auto gid = ::getegid();
    if (::unshare(CLONE_NEWUSER | flags) != 0) return false;
    write_small("/proc/self/setgroups", "deny");
    write_small("/proc/self/uid_map", fmt::format("{} {} 1\n", uid, uid));
    write_small("/proc/self/gid_map", fmt::format("{} {} 1\n", gid, gid));
    return true;
}

bool enter_pid_namespace() { return enter_namespaces(CLONE_NEWPID) || ::unshare(CLONE_NEWPID) == 0; }

}  // namespace kernelwright
