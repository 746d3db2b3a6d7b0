// A folder of a test's own, removed at its end.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace kernelwright {

class TempFolder {
  public:
    enum class On {
        disk,   // the place for temporary files; programs in it can be executed
        memory  // memory where there is some: for tests that sync many files
    };
    explicit TempFolder(On on = On::disk) {
        const std::filesystem::path memory = "/dev/shm";
        const bool usable = on == On::memory && ::access(memory.c_str(), W_OK) == 0;
        std::string form =
            ((usable ? memory : std::filesystem::temp_directory_path()) / "kernelwright-test-XXXXXX")
                .string();
        if (::mkdtemp(form.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", form, {});
        path_ = form;
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace kernelwright
