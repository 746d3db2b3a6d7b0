// seccomp: the system calls that a sandboxed process must not make.
#pragma once

#include "harness/sandbox/policy.h"

namespace kernelwright {

// A deny-list: what reaches other processes, the network, name spaces, kernel modules or kernel interfaces
// with a history of holes. With `allow_exec` off, no process and no program can be started either. Denied
// calls fail with EPERM (ENOSYS where a caller should fall back to an older call).
SandboxLayer apply_seccomp(bool allow_exec);

}  // namespace kernelwright
