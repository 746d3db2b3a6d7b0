// One interface for everything that can run a compiled candidate: the emulated GPU (in this process or in a
// sandboxed worker) and, later, a real one. Values in, values out; a device knows nothing of tasks,
// references or verdicts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/emulator.h"
#include "harness/candidate/candidate.h"
#include "harness/compile/compiler.h"
#include "harness/core/diagnostic.h"
#include "harness/core/result.h"

namespace kernelwright {

struct JobBuffer {
    std::string name;
    std::uint64_t size = 0;  // bytes
    emulator::BufferKind kind = emulator::BufferKind::input;
    std::vector<std::byte> content;  // inputs and in-place outputs; empty otherwise
    bool fetch = false;              // return the bytes afterwards
};

// One launch sequence: fresh buffers, then the plan's kernels in order.
struct Job {
    std::vector<JobBuffer> buffers;
    std::vector<BoundKernel> kernels;
    std::map<std::string, std::string> lowered_names;  // plan's kernel name -> PTX symbol, where they differ
    emulator::Limits limits;
    bool check_races = true;
    bool count = false;
    std::uint64_t schedule_seed = 0;
    std::uint64_t address_seed = 0;
    std::uint8_t poison = 0xd5;
    std::uint64_t max_warp_instructions = 500'000'000;
    std::chrono::milliseconds max_time{20'000};
    // Run only about this many blocks of each kernel, spread over the grid; 0: all.
    std::uint64_t sample_blocks = 0;
};

struct KernelRun {
    std::string name;  // as in the plan
    std::optional<emulator::LaunchError> refused;
    std::vector<emulator::Fault> faults;
    emulator::Counters counters;
    std::uint64_t blocks_total = 0, blocks_run = 0;
    std::string printed;
};

struct FetchedBuffer {
    std::vector<std::byte> bytes;
    std::vector<bool> written;  // per byte; only for outputs of which some byte was not written
};

struct JobOutcome {
    std::vector<KernelRun> kernels;  // up to the first that was refused or faulted
    std::map<std::string, FetchedBuffer> fetched;
    bool clean() const;
};

// Why a job gave no outcome at all (the worker died).
struct JobFailure {
    enum class Kind {
        timeout,
        memory,
        crashed,
        broken,
        unavailable  // it could not even be started: says nothing of the candidate
    } kind = Kind::crashed;
    std::string message;
};

// A loaded module. Its __device__ variables keep their values from one job to the next until `reload`.
class Session {
  public:
    virtual ~Session() = default;
    virtual const Signatures& signatures() const = 0;  // by PTX symbol
    virtual const std::vector<emulator::KernelInfo>& kernels() const = 0;
    virtual const std::vector<emulator::GlobalInfo>& globals() const = 0;
    virtual Result<JobOutcome, JobFailure> run(const Job& job) = 0;
    virtual void reload() = 0;  // as a fresh module load
};

struct LoadFailure {
    std::optional<emulator::LoadError> load;  // the PTX is not understood: `emulator-unsupported`
    std::optional<JobFailure> failure;
};

class Device {
  public:
    virtual ~Device() = default;
    virtual std::string name() const = 0;  // "emulator"
    virtual Result<std::unique_ptr<Session>, LoadFailure> open(const Build& build) = 0;
};

// The emulated GPU in this process.
std::unique_ptr<Device> make_emulated_device();

}  // namespace kernelwright
