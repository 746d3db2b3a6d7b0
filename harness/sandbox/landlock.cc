#include "harness/sandbox/landlock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "harness/core/process.h"

namespace kernelwright {
namespace {

// Linux's include/uapi/linux/landlock.h, up to version 7 of the interface.
struct RulesetAttributes {
    std::uint64_t handled_access_fs;
    std::uint64_t handled_access_net;  // from version 4
    std::uint64_t scoped;              // from version 6
};
struct PathBeneathAttributes {
    std::uint64_t allowed_access;
    std::int32_t parent_fd;
} __attribute__((packed));

constexpr int rule_path_beneath = 1;
constexpr unsigned create_ruleset_version = 1U;

constexpr std::uint64_t fs_execute = 1U << 0, fs_write_file = 1U << 1, fs_read_file = 1U << 2,
                        fs_read_dir = 1U << 3;
constexpr std::uint64_t fs_remove_dir = 1U << 4, fs_remove_file = 1U << 5, fs_make_dir = 1U << 7,
                        fs_make_reg = 1U << 8, fs_make_fifo = 1U << 10, fs_make_sym = 1U << 12;
constexpr std::uint64_t fs_version_1 = (1U << 13) - 1;
constexpr std::uint64_t fs_refer = 1U << 13;      // version 2
constexpr std::uint64_t fs_truncate = 1U << 14;   // version 3
constexpr std::uint64_t fs_ioctl_dev = 1U << 15;  // version 5
constexpr std::uint64_t net_bind_connect = 3;     // version 4
constexpr std::uint64_t scope_all = 3;            // version 6: abstract sockets, signals

std::uint64_t handled_files(int abi) {
    std::uint64_t rights = fs_version_1;
    if (abi >= 2) rights |= fs_refer;
    if (abi >= 3) rights |= fs_truncate;
    if (abi >= 5) rights |= fs_ioctl_dev;
    return rights;
}

// Rights on a plain file; the kernel refuses folder rights on one.
constexpr std::uint64_t file_rights = fs_execute | fs_write_file | fs_read_file | fs_truncate | fs_ioctl_dev;

bool allow(int ruleset, const std::filesystem::path& path, std::uint64_t rights) {
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!fd) return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return false;
    if (!S_ISDIR(info.st_mode)) rights &= file_rights;
    const PathBeneathAttributes rule{rights, fd.get()};
    return ::syscall(SYS_landlock_add_rule, ruleset, rule_path_beneath, &rule, 0) == 0;
}

SandboxLayer inactive(const std::string& why) { return {"landlock", false, why}; }

}  // namespace

int landlock_abi() {
    const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, create_ruleset_version);
    return abi > 0 ? static_cast<int>(abi) : 0;
}

SandboxLayer apply_landlock(const std::vector<std::filesystem::path>& read_only,
                            const std::vector<std::filesystem::path>& read_write, bool execute) {
    const int abi = landlock_abi();
    if (abi == 0) {
        return inactive(
            "this kernel has no Landlock (Linux 5.13 with CONFIG_SECURITY_LANDLOCK, and `landlock` "
            "in the lsm= boot list)");
    }
    RulesetAttributes attributes{};
    std::size_t size = sizeof attributes.handled_access_fs;
    attributes.handled_access_fs = handled_files(abi);
    if (abi >= 4) {
        attributes.handled_access_net = net_bind_connect;
        size = 2 * sizeof(std::uint64_t);
    }
    if (abi >= 6) {
        attributes.scoped = scope_all;
        size = 3 * sizeof(std::uint64_t);
    }
    const UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
    if (!ruleset) return inactive(fmt::format("landlock_create_ruleset: {}", std::strerror(errno)));

    const std::uint64_t handled = attributes.handled_access_fs;
    const std::uint64_t reading = fs_read_file | fs_read_dir | (execute ? fs_execute : 0);
    const std::uint64_t writing = (reading & ~fs_execute) | fs_write_file | fs_remove_dir | fs_remove_file |
                                  fs_make_dir | fs_make_reg | fs_make_fifo | fs_make_sym | fs_refer |
                                  fs_truncate | fs_ioctl_dev;
    for (const auto& path : read_only) {
        if (!allow(ruleset.get(), path, reading & handled)) {
            return inactive(fmt::format("a rule for {}: {}", path.string(), std::strerror(errno)));
        }
    }
    for (const auto& path : read_write) {
        if (!allow(ruleset.get(), path, writing & handled)) {
            return inactive(fmt::format("a rule for {}: {}", path.string(), std::strerror(errno)));
        }
    }
    if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
        return inactive(fmt::format("landlock_restrict_self: {}", std::strerror(errno)));
    }
    return {"landlock", true, fmt::format("ABI {}", abi)};
}

}  // namespace kernelwright
