// Puts the layers of a policy on the calling process; see policy.h for the order and why.
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

#include "harness/sandbox/landlock.h"
#include "harness/sandbox/namespaces.h"
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

SandboxLayer apply_namespaces(const SandboxPolicy& policy) {
    constexpr int kinds = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (enter_namespaces(kinds)) {
        // Outside a name space of its own the limit would count every process of the user.
        set_limit(RLIMIT_NPROC, policy.processes);
        return {"namespaces", true, "user, network, IPC, host name"};
    }
    const int refused = errno;
    if (::unshare(kinds) == 0) return {"namespaces", true, "network, IPC, host name"};
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
