// The processes around an outside command, so that nothing of it outlives the program that asked for it:
//
//   driver -> supervisor -> init (process 1 of a PID name space) -> the command and whatever it starts
//
// The driver's death, by SIGKILL too, closes the lifeline (a pipe that nobody writes to); the supervisor then
// kills init, and with process 1 the kernel kills everything in its name space, also what left the session or
// was forked twice. Where there are no PID name spaces the supervisor is a subreaper: orphans become its own
// children, which it kills one after the other.
#pragma once

#include <functional>

namespace kernelwright {

// Runs `command` (which becomes the outside program and does not return) below this process, which must have
// one thread, and ends as it ended: same exit status, same signal. `pid_namespace`: use one if there are any.
[[noreturn]] void supervise(int lifeline, bool pid_namespace, const std::function<void()>& command);

}  // namespace kernelwright
