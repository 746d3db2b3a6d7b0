// What both sides of the worker channel must agree on beyond the frames.
#pragma once

namespace kernelwright {

inline constexpr int worker_job_fd = 3;
inline constexpr int worker_answer_fd = 4;
inline constexpr int worker_lifeline_fd = 5;

// The kinds that every program has.
inline constexpr const char* command_worker_kind = "command";  // becomes an outside command
inline constexpr const char* probe_worker_kind = "probe";      // says which layers hold
// Set in a worker's environment: a program that forgot run_worker_if_asked must not start itself for ever.
inline constexpr const char* in_worker_variable = "KERNELWRIGHT_IN_WORKER";

// Exit statuses by which a worker says why it left.
inline constexpr int worker_setup_status = 120;
inline constexpr int worker_protocol_status = 121;
inline constexpr int worker_memory_status = 122;
inline constexpr int worker_orphan_status = 123;

}  // namespace kernelwright
