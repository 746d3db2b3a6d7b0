// A small bench for emulator tests: buffers by name, launches by a line of text.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "emulator/emulator.h"
#include "tests/support/nvrtc.h"

namespace emulator::test {

class Machine {
  public:
    Memory memory;
    Options options;
    std::optional<Module> module;
    std::string error;

    bool load_ptx(const std::string& ptx, HostIsa isa = best_host_isa()) {
        auto loaded = Module::load(ptx, isa);
        if (auto* e = std::get_if<LoadError>(&loaded)) {
            error = e->message + " | " + e->instruction + " at " + e->file + ":" + std::to_string(e->line);
            return false;
        }
        module = std::move(std::get<Module>(loaded));
        return true;
    }
    bool load_cuda(const std::string& source, const std::vector<std::string>& extra = {}) {
        std::string log;
        const auto ptx = Nvrtc::get().compile(source, "kernel.cu", &log, extra);
        if (!ptx) {
            error = log;
            return false;
        }
        return load_ptx(*ptx);
    }

    template <class T>
    std::uint64_t input(const std::string& name, const std::vector<T>& values,
                        BufferKind kind = BufferKind::input) {
        const std::uint64_t at = memory.allocate(name, values.size() * sizeof(T), kind);
        memory.write(at, std::as_bytes(std::span(values)));
        return at;
    }
    template <class T>
    std::uint64_t output(const std::string& name, std::size_t n, BufferKind kind = BufferKind::output) {
        return memory.allocate(name, n * sizeof(T), kind);
    }
    template <class T>
    std::vector<T> read(std::uint64_t at, std::size_t n) const {
        const auto bytes = memory.read(at, n * sizeof(T));
        std::vector<T> out(bytes.size() / sizeof(T));
        if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
        return out;
    }

    template <class... Args>
    Outcome run(const std::string& kernel, Dim3 grid, Dim3 block, std::uint32_t shared, Args... args) {
        Launch launch;
        launch.kernel = kernel;
        launch.grid = grid;
        launch.block = block;
        launch.dynamic_shared = shared;
        launch.cooperative = cooperative;
        std::vector<std::vector<std::byte>> values;
        (values.push_back(bytes_of(args)), ...);
        launch.arguments = pack(kernel, values);
        return emulator::run(*module, memory, launch, options);
    }
    bool cooperative = false;

    template <class T>
    static std::vector<std::byte> bytes_of(T value) {
        std::vector<std::byte> out(sizeof value);
        std::memcpy(out.data(), &value, sizeof value);
        return out;
    }
    std::vector<std::byte> pack(const std::string& kernel,
                                const std::vector<std::vector<std::byte>>& values) const {
        std::vector<std::byte> out;
        const KernelInfo* info = module->find_kernel(kernel);
        if (!info) return out;
        out.resize(info->parameter_bytes);
        for (std::size_t i = 0; i < values.size() && i < info->parameters.size(); ++i)
            std::memcpy(out.data() + info->parameters[i].offset, values[i].data(),
                        std::min<std::size_t>(values[i].size(), info->parameters[i].size));
        return out;
    }
};

inline std::string describe(const Outcome& outcome) {
    std::ostringstream out;
    if (outcome.refused)
        out << "refused: " << outcome.refused->rule << ": " << outcome.refused->message << "\n";
    for (const Fault& f : outcome.faults) {
        out << f.rule << " at " << to_string(f.place) << " [" << f.place.instruction << "] " << f.message;
        if (f.block) out << " block " << f.block->x << "," << f.block->y;
        if (f.thread) out << " thread " << f.thread->x << "," << f.thread->y;
        if (f.other)
            out << "; " << f.other->note << " " << to_string(f.other->place) << " ["
                << f.other->place.instruction << "]";
        out << " x" << f.occurrences << "\n";
    }
    if (out.str().empty()) out << "clean";
    return out.str();
}

#define NEED_TOOLKIT() \
    if (!emulator::test::Nvrtc::get().available()) GTEST_SKIP() << "no NVRTC on this machine"

}  // namespace emulator::test
