#include <unordered_map>

#include "emulator/src/exec/isa.h"

namespace emulator::exec {

#ifdef EMULATOR_HAS_V3
namespace {
bool supports_v3() {
    __builtin_cpu_init();
#ifdef __clang__  // knows single features only; what is not asked for came with these
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
    return __builtin_cpu_supports("x86-64-v3");
#endif
}
}  // namespace
#endif

const HandlerSet& chosen_handlers() {
    static const HandlerSet set = [] {
#ifdef EMULATOR_HAS_V3
        if (supports_v3()) return v3::handler_set();
#endif
        return baseline::handler_set();
    }();
    return set;
}

Handler find_handler(std::string_view name) {
    static const std::unordered_map<std::string_view, Handler> index = [] {
        std::unordered_map<std::string_view, Handler> all;
        for (const HandlerTable& table : chosen_handlers().tables)
            for (std::size_t i = 0; i < table.count; ++i)
                all.emplace(table.entries[i].name, table.entries[i].fn);
        return all;
    }();
    const auto it = index.find(name);
    return it == index.end() ? nullptr : it->second;
}

}  // namespace emulator::exec
