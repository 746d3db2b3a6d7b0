#include "harness/core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kernelwright {
namespace {

Error failure(const char* what, const std::filesystem::path& path) {
    return Error{fmt::format("cannot {}: {}", what, std::strerror(errno)), path.string()};
}

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }

  private:
    int fd_;
};

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::uintmax_t limit) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) return failure("open", path);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return failure("read", path);
    if (!S_ISREG(info.st_mode)) return Error{"not a regular file", path.string()};
    const auto size = static_cast<std::uintmax_t>(info.st_size);
    if (size > limit) {
        return Error{fmt::format("the file is {} bytes, more than the {} that are read", size, limit),
                     path.string()};
    }
    std::string content(size, '\0');
    std::size_t have = 0;
    while (have < content.size()) {
        const ssize_t n = ::read(fd.get(), content.data() + have, content.size() - have);
        if (n < 0) {
            if (errno == EINTR) continue;
            return failure("read", path);
        }
        if (n == 0) break;
        have += static_cast<std::size_t>(n);
    }
    content.resize(have);
    return content;
}

bool write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        content.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

Status write_file_atomic(const std::filesystem::path& path, std::string_view content) {
    const std::filesystem::path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
    {
        const Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        if (!fd.valid()) return failure("write", path);
        if (!write_all(fd.get(), content) || ::fsync(fd.get()) != 0) {
            const Error error = failure("write", path);
            ::unlink(temporary.c_str());
            return error;
        }
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        const Error error = failure("write", path);
        ::unlink(temporary.c_str());
        return error;
    }
    return Done{};
}

Status append_line(const std::filesystem::path& path, std::string_view line) {
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
    struct stat info {};
    if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return failure("append to", path);
    if (!S_ISREG(info.st_mode)) return Error{"not a regular file", path.string()};
    const std::string whole = std::string(line) + "\n";
    if (!write_all(fd.get(), whole) || ::fsync(fd.get()) != 0) return failure("append to", path);
    return Done{};
}

}  // namespace kernelwright
