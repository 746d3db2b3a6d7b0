// Landlock: the kernel's file access rules that a process puts on itself, reached by raw system calls because
// neither libc nor this distribution's headers know the newer versions.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/sandbox/policy.h"

namespace kernelwright {

// The version of Landlock that this kernel offers; 0: none.
int landlock_abi();

// Denies every file access except reading under `read_only` (executing too when `execute`), and everything
// but device creation under `read_write`; also TCP, and signals and abstract sockets to outside, as far as
// this kernel's version goes.
SandboxLayer apply_landlock(const std::vector<std::filesystem::path>& read_only,
                            const std::vector<std::filesystem::path>& read_write, bool execute);

}  // namespace kernelwright
