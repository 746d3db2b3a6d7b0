#include "harness/sandbox/seccomp_filter.h"

#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace kernelwright {
namespace {

constexpr std::array always_denied = {
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "setsid",
    "setpgid",
    // sockets of every family; socketpair stays
    "socket", "connect", "bind", "listen", "accept", "accept4",
    // name spaces, mounts, roots
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at",
    // the kernel and the machine
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon",
    "swapoff", "acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "clock_adjtime",
    "adjtimex", "sethostname", "setdomainname", "syslog", "iopl", "ioperm", "personality", "nfsservctl",
    "vhangup",
    // interfaces with a history of holes
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "fanotify_init",
    "lookup_dcookie", "vmsplice", "modify_ldt", "mbind", "migrate_pages", "move_pages"};

constexpr std::array never_there = {"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"};

constexpr std::array denied_without_exec = {"execve", "execveat", "fork", "vfork"};

struct Release {
    void operator()(void* context) const { ::seccomp_release(context); }
};

}  // namespace

SandboxLayer apply_seccomp(bool allow_exec) {
    const std::unique_ptr<void, Release> context(::seccomp_init(SCMP_ACT_ALLOW));
    if (!context) return {"seccomp", false, "seccomp_init failed"};
    int rules = 0;
    const auto deny = [&](const char* name, int code) {
        const int call = ::seccomp_syscall_resolve_name(name);
        // A name that this libseccomp does not know, or that this architecture does not have, needs no rule.
        if (call == __NR_SCMP_ERROR || call < 0) return;
        if (::seccomp_rule_add(context.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(code)), call, 0) ==
            0) {
            ++rules;
        }
    };
    for (const char* name : always_denied) deny(name, EPERM);
    for (const char* name : never_there) deny(name, ENOSYS);
    const auto deny_clone = [&](scmp_arg_cmp condition) {
        if (::seccomp_rule_add_array(context.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, &condition) ==
            0) {
            ++rules;
        }
    };
    if (allow_exec) {
        for (const unsigned long flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWIPC,
                                         CLONE_NEWUTS, CLONE_NEWCGROUP}) {
            deny_clone(SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
        }
    } else {
        for (const char* name : denied_without_exec) deny(name, EPERM);
        deny_clone(SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));  // threads stay, processes do not
    }
    // Terminal input injection.
    const scmp_arg_cmp push_input = SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffUL, 0x5412UL);
    if (::seccomp_rule_add_array(context.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1, &push_input) ==
        0) {
        ++rules;
    }
    if (const int failed = ::seccomp_load(context.get()); failed != 0) {
        return {"seccomp", false, fmt::format("seccomp_load: {}", std::strerror(-failed))};
    }
    return {"seccomp", true, fmt::format("{} rules", rules)};
}

}  // namespace kernelwright
