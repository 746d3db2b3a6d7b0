// Puts the layers of a policy on the calling process; see policy.h for the order and why.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "harness/core/process.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/policy.h"
#include "harness/sandbox/seccomp_filter.h"

namespace kernelwright {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool reserves_address_space = true;
#else
constexpr bool reserves_address_space = false;
#endif

bool set_limit(int resource, std::uint64_t value) {
    rlimit now{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return false;
    if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max) value = now.rlim_max;
    const rlimit wanted{value, value};
    return ::setrlimit(static_cast<__rlimit_resource>(resource), &wanted) == 0;
}

SandboxLayer apply_limits(const SandboxPolicy& policy) {
    bool ok = set_limit(RLIMIT_CORE, 0);
    ok &= set_limit(RLIMIT_FSIZE, policy.file_size);
    ok &= set_limit(RLIMIT_NOFILE, policy.open_files);
    if (policy.cpu.count() > 0) ok &= set_limit(RLIMIT_CPU, static_cast<std::uint64_t>(policy.cpu.count()));
    if (policy.address_space > 0 && !reserves_address_space) ok &= set_limit(RLIMIT_AS, policy.address_space);
    if (!ok) return {"limits", false, std::strerror(errno)};
    if (policy.address_space > 0 && reserves_address_space) {
        return {"limits", true, "no address space limit in a sanitizer build"};
    }
    return {"limits", true, ""};
}

bool write_small(const char* path, std::string_view text) {
    const UniqueFd fd(::open(path, O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A user name space makes the other ones possible for an ordinary user, and strips root of its powers over
// the host.
SandboxLayer apply_namespaces(const SandboxPolicy& policy) {
    const auto uid = ::geteuid();
    const auto gid = ::getegid();
    constexpr int others = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (::unshare(CLONE_NEWUSER | others) == 0) {
        write_small("/proc/self/setgroups", "deny");
        write_small("/proc/self/uid_map", fmt::format("{} {} 1\n", uid, uid));
        write_small("/proc/self/gid_map", fmt::format("{} {} 1\n", gid, gid));
        // Outside a name space of its own the limit would count every process of the user.
        set_limit(RLIMIT_NPROC, policy.processes);
        return {"namespaces", true, "user, network, IPC, host name"};
    }
    const int refused = errno;
    if (::unshare(others) == 0) return {"namespaces", true, "network, IPC, host name"};
    return {"namespaces", false, fmt::format("unshare: {}", std::strerror(refused))};
}

SandboxLayer apply_privileges() {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return {"no-new-privileges", false, std::strerror(errno)};
    }
    // Outside a user name space root keeps its capabilities; they are dropped either way.
    for (int capability = 0; capability <= 63; ++capability) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> none{};
    const bool dropped = ::syscall(SYS_capset, &header, none.data()) == 0;
    return {"no-new-privileges", true, dropped ? "capabilities dropped" : "capabilities kept"};
}

}  // namespace

Result<SandboxReport> apply_sandbox(const SandboxPolicy& policy) {
    SandboxReport report;
    report.push_back(apply_limits(policy));
    if (policy.mode == SandboxMode::off) {
        for (const char* name : {"namespaces", "no-new-privileges", "landlock", "seccomp"}) {
            report.push_back({name, false, "switched off"});
        }
        return report;
    }
    report.push_back(apply_namespaces(policy));
    report.push_back(apply_privileges());
    report.push_back(apply_landlock(policy.read_only, policy.read_write, policy.allow_exec));
    report.push_back(apply_seccomp(policy.allow_exec));
    if (policy.mode == SandboxMode::require) {
        for (const char* name : {"landlock", "seccomp"}) {
            const SandboxLayer* layer = find_layer(report, name);
            if (!layer->active) {
                return Error{
                    fmt::format("the sandbox requires {}, which is not available: {}", name, layer->detail),
                    "", 0, 0, "run with --sandbox best-effort to go on with the layers that are"};
            }
        }
    }
    return report;
}

}  // namespace kernelwright
