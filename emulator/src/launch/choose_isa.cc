#include "emulator/src/exec/isa.h"

namespace emulator::exec {

namespace {
// __builtin_cpu_supports takes the names of levels with g++ only; the features asked for here came with
// everything else of their level.
bool supports_v3() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
bool supports_v4() {
    return supports_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
}  // namespace

const HandlerSet* handlers_of(HostIsa isa) {
    switch (isa) {
        case HostIsa::baseline: {
            static const HandlerSet set = baseline::handler_set();
            return &set;
        }
#ifdef EMULATOR_HAS_X86_LEVELS
        case HostIsa::v3: {
            if (!supports_v3()) return nullptr;
            static const HandlerSet set = v3::handler_set();
            return &set;
        }
        case HostIsa::v4: {
            if (!supports_v4()) return nullptr;
            static const HandlerSet set = v4::handler_set();
            return &set;
        }
#endif
        default:
            return nullptr;
    }
}

Handler find_handler(const HandlerSet& set, std::string_view name) {
    const auto it = set.handlers.find(name);
    return it == set.handlers.end() ? nullptr : it->second;
}

}  // namespace emulator::exec

namespace emulator {

HostIsa best_host_isa() {
    for (const HostIsa isa : {HostIsa::v4, HostIsa::v3})
        if (exec::handlers_of(isa)) return isa;
    return HostIsa::baseline;
}
bool supports(HostIsa isa) { return exec::handlers_of(isa) != nullptr; }

}  // namespace emulator
