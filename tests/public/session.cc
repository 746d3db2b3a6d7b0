#include <chrono>

#include "tests/public/source.h"

namespace kernelwright::public_sources {

Session::Session(const Build& build, const emulator::Module& module, std::uint64_t seed)
    : build_(build), module_(module), seed_(seed) {
    memory_.set_address_seed(seed);
    memory_.load_globals(module);
}

std::string Session::symbol_of(const std::string& name) const {
    const auto found = build_.lowered_names.find(name);
    if (found == build_.lowered_names.end()) throw Failure("the compiler gave no symbol for `" + name + "`");
    return found->second;
}

void Session::symbol_bytes(const std::string& name, std::span<const std::byte> bytes) {
    if (!memory_.write_symbol(module_, symbol_of(name), bytes))
        throw Failure("no variable `" + name + "` of that size");
}

void Session::start(const std::string& kernel, const LaunchShape& shape,
                    const std::vector<std::vector<std::byte>>& arguments) {
    emulator::Launch launch;
    launch.kernel = symbol_of(kernel);
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.dynamic_shared = shape.shared;
    launch.cooperative = shape.cooperative;
    const emulator::KernelInfo* info = module_.find_kernel(launch.kernel);
    if (info == nullptr) throw Failure("no kernel `" + launch.kernel + "`");
    if (info->parameters.size() != arguments.size()) {
        throw Failure(fmt::format("{} takes {} arguments, {} are given", kernel, info->parameters.size(),
                                  arguments.size()));
    }
    launch.arguments.resize(info->parameter_bytes);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& parameter = info->parameters[i];
        if (parameter.size != arguments[i].size()) {
            throw Failure(fmt::format("argument {} of {} has {} bytes, {} are given", i, kernel,
                                      parameter.size, arguments[i].size()));
        }
        std::memcpy(launch.arguments.data() + parameter.offset, arguments[i].data(), parameter.size);
    }
    emulator::Options options;
    options.schedule_seed = seed_;
    const auto begin = std::chrono::steady_clock::now();
    const emulator::Outcome outcome = emulator::run(module_, memory_, launch, options);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    instructions_ += outcome.counters.thread_instructions;
    printed_ += outcome.printed;
    if (outcome.refused)
        throw Failure(fmt::format("refused: {} [{}]", outcome.refused->message, outcome.refused->rule));
    if (!outcome.faults.empty()) {
        const emulator::Fault& fault = outcome.faults.front();
        std::string other;
        if (fault.other) other = fmt::format("; {} line {}", fault.other->note, fault.other->place.line);
        throw Failure(fmt::format("{}: {} at {}:{} (PTX line {}: {}){}", fault.rule, fault.message,
                                  fault.place.file, fault.place.line, fault.place.ptx_line,
                                  fault.place.instruction, other));
    }
}

}  // namespace kernelwright::public_sources
