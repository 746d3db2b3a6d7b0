// Jobs and outcomes as messages: a JSON header and binary blobs, for a device that lives in a worker process.
#pragma once

#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"
#include "harness/device/device.h"

namespace kernelwright::wire {

using Blobs = std::vector<std::string>;

struct Packet {
    Json header;
    Blobs blobs;
};

Packet pack(const Job& job);
Result<Job> unpack_job(const Packet& packet);
Packet pack(const JobOutcome& outcome);
Result<JobOutcome> unpack_outcome(const Packet& packet);

// What a loaded module says about itself.
Json to_json(const emulator::KernelInfo& kernel);
Json to_json(const emulator::GlobalInfo& global);
Json to_json(const emulator::LoadError& error);
Result<emulator::KernelInfo> kernel_info_from_json(const Json& json);
Result<emulator::GlobalInfo> global_info_from_json(const Json& json);
Result<emulator::LoadError> load_error_from_json(const Json& json);
Json to_json(const emulator::Counters& counters);
Result<emulator::Counters> counters_from_json(const Json& json);

}  // namespace kernelwright::wire
