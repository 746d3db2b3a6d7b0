// Linux name spaces that an ordinary user can enter: always through a user name space of its own, which also
// strips root of its powers over the host.
#pragma once

namespace kernelwright {

// Enters new name spaces (CLONE_NEW* flags) inside a new user name space, in which the user keeps its number;
// false, and errno: refused.
bool enter_namespaces(int flags);

// The next child is process 1 of a new PID name space: when it ends, everything in there is killed. False:
// this machine has none.
bool enter_pid_namespace();

}  // namespace kernelwright
