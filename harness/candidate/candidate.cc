#include "harness/candidate/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/files.h"

namespace kernelwright {

bool ParsedCandidate::ok() const {
    return std::none_of(diagnostics.begin(), diagnostics.end(),
                        [](const Diagnostic& d) { return d.severity == Severity::error; });
}

Result<std::string> load_candidate(const std::filesystem::path& path) {
    auto text = read_file(path, CandidateLimits::source_bytes);
    // Some editors begin a file with a byte order mark, which NVRTC does not take.
    if (text && text->starts_with("\xef\xbb\xbf")) text->erase(0, 3);
    return text;
}

Environment plan_environment(const Task& task, const SymbolValues& symbols, const Environment& device,
                             const DefaultParams& defaults) {
    Environment environment = device;
    for (const Json* params : {&defaults, &task.params}) {
        for (const auto& [name, value] : params->items()) {
            // The page's own value replaces a default of either kind.
            if (!value.is_number() && !value.is_boolean()) continue;
            environment.integers.erase(name);
            environment.reals.erase(name);
            if (value.is_boolean()) environment.integers[name] = value.get<bool>() ? 1 : 0;
            if (value.is_number_integer()) environment.integers[name] = value.get<std::int64_t>();
            if (value.is_number_float()) environment.reals[name] = value.get<double>();
        }
    }
    for (const auto& [name, value] : symbols) environment.integers[name] = value;
    return environment;
}

Result<std::optional<int>> choose_plan(const Candidate& candidate, const Task& task,
                                       const SymbolValues& symbols, const Environment& device,
                                       const DefaultParams& defaults) {
    const Environment environment = plan_environment(task, symbols, device, defaults);
    for (std::size_t i = 0; i < candidate.plans.size(); ++i) {
        const LaunchPlan& plan = candidate.plans[i];
        if (!plan.when) return std::optional<int>(static_cast<int>(i));
        const auto holds = plan.when->evaluate(environment);
        if (!holds) {
            return Error{fmt::format("the guard `{}` cannot be evaluated at {}: {}", plan.when->text(),
                                     shape_text(task, symbols), holds.error().message),
                         candidate.file, plan.line};
        }
        if (*holds != 0) return std::optional<int>(static_cast<int>(i));
    }
    return std::optional<int>();
}

}  // namespace kernelwright
