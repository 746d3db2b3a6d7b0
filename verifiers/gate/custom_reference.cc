#include "verifiers/gate/custom_reference.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "harness/candidate/candidate.h"
#include "harness/core/environment.h"
#include "harness/core/files.h"
#include "harness/core/npy.h"
#include "harness/core/text.h"
#include "harness/sandbox/command.h"
#include "verifiers/gate/execution.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

// A folder for one evaluation, gone afterwards.
class WorkFolder {
  public:
    WorkFolder() {
        std::string name = (fs::temp_directory_path() / "kernelwright-reference-XXXXXX").string();
        if (::mkdtemp(name.data()) != nullptr) path_ = name;
    }
    ~WorkFolder() {
        std::error_code ec;
        if (!path_.empty()) fs::remove_all(path_, ec);
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

Error about(const Task& task, std::string message, std::string hint = {}) {
    return Error{fmt::format("the reference of task {}: {}", task.name, message), task.file, 0, 0,
                 std::move(hint)};
}

// The end of what a program said, on one line: a traceback's last lines say where it was and what went wrong.
std::string last_words(const std::string& text) {
    constexpr std::size_t most_lines = 6, most_bytes = 600;
    std::vector<std::string> lines;
    for (const std::string& line : split(text, '\n')) {
        if (const std::string_view words = trim(line); !words.empty()) lines.emplace_back(words);
    }
    std::string out;
    for (std::size_t i = lines.size(); i-- > 0 && lines.size() - i <= most_lines;) {
        const std::string longer = out.empty() ? lines[i] : lines[i] + " | " + out;
        if (longer.size() > most_bytes) {
            if (out.empty()) out = "..." + longer.substr(longer.size() - most_bytes);
            break;
        }
        out = longer;
    }
    return printable(out);
}

constexpr const char* seconds_variable = "KERNELWRIGHT_REFERENCE_SECONDS";

// How long one call of a page's command may take.
Result<std::chrono::seconds> command_limit() {
    const auto set = read_environment(seconds_variable);
    if (!set) return std::chrono::duration_cast<std::chrono::seconds>(SandboxedCommand{}.wall_limit);
    int value = 0;
    const auto [end, ec] = std::from_chars(set->data(), set->data() + set->size(), value);
    if (ec != std::errc() || end != set->data() + set->size() || value < 1 || value > 86400) {
        return Error{fmt::format("{}={}: it is a number of seconds, 1 to 86400", seconds_variable, *set)};
    }
    return std::chrono::seconds(value);
}

Error command_failed(const Task& task, const ProcessResult& process, std::chrono::seconds limit) {
    std::string what = "ended with " + process.end.str();
    std::string hint;
    if (process.timed_out) {
        what = fmt::format("did not end within {} s", limit.count());
        hint =
            fmt::format("make it faster, take smaller shapes, or set {} to more seconds", seconds_variable);
    } else if (process.out_of_memory) {
        what = "took too much memory";
    } else if (process.error_output.find("Permission denied") != std::string::npos ||
               process.error_output.find("No module named") != std::string::npos || process.end.code == 126 ||
               process.end.code == 127) {
        hint =
            "it sees the system's programs, its own installation and the folders of "
            "KERNELWRIGHT_SANDBOX_READ; docs/sandbox.md";
    }
    const std::string said = last_words(process.error_output);
    return about(task,
                 fmt::format("`{}` {}{}", task.reference_command, what, said.empty() ? "" : ": " + said),
                 std::move(hint));
}

Result<std::vector<Tensor>> run_command_once(const Task& task, const SymbolValues& symbols,
                                             const std::vector<Tensor>& inputs, bool widen) {
    const WorkFolder folder;
    if (folder.path().empty()) return about(task, "cannot make a working folder");
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const Status written =
            write_file_atomic(folder.path() / (task.inputs[i].name + ".npy"), to_npy(inputs[i], widen));
        if (!written) return written.error();
    }
    if (const Status written = write_file_atomic(folder.path() / "symbols.json", Json(symbols).dump());
        !written)
        return written.error();
    const auto limit = command_limit();
    if (!limit) return limit.error();
    SandboxedCommand command;
    command.wall_limit = *limit;
    command.shell = task.reference_command;
    command.working_directory = folder.path();
    // A script named in the command lies beside the page.
    const fs::path page_folder = fs::absolute(fs::path(task.file)).parent_path();
    std::error_code ec;
    for (const std::string& word : {std::string(task.reference_command)}) {
        std::size_t start = 0;
        while (start < word.size()) {
            const std::size_t end = std::min(word.find(' ', start), word.size());
            const std::string part = word.substr(start, end - start);
            if (!part.empty() && part.find('/') == std::string::npos &&
                fs::is_regular_file(page_folder / part, ec)) {
                fs::copy_file(page_folder / part, folder.path() / part, ec);
            }
            start = end + 1;
        }
    }
    const auto outcome = run_command(command);
    if (!outcome) return outcome.error();
    const ProcessResult& process = outcome->process;
    if (!process.ok()) return command_failed(task, process, *limit);
    std::vector<Tensor> outputs;
    for (const TensorSpec& spec : task.outputs) {
        const std::string name = spec.name + ".npy";
        // A link could lead to a file that the sandbox kept from the program.
        if (fs::is_symlink(fs::symlink_status(folder.path() / name, ec)))
            return about(task,
                         fmt::format("`{}` made {} a link; it must be a file", task.reference_command, name));
        const auto bytes = read_file(folder.path() / name, std::uintmax_t{1} << 31);
        if (!bytes)
            return about(task, fmt::format("`{}` wrote no {}", task.reference_command, name),
                         "save it with numpy.save");
        auto tensor = from_npy(*bytes, name);
        if (!tensor) return about(task, tensor.error().str());
        const auto shape = spec.shape_at(symbols);
        if (!shape) return shape.error();
        if (tensor->count() != element_count(*shape)) {
            return about(task, fmt::format("{} has shape {}, the page says {}", name,
                                           to_string(tensor->shape), to_string(*shape)));
        }
        tensor->shape = *shape;
        outputs.push_back(std::move(*tensor));
    }
    return outputs;
}

class CudaReferenceOnDevice final : public CudaReference {
  public:
    // The block as the page has it, with every floating tensor in `floating` when that is set.
    struct Variant {
        Task task;  // dtypes as this variant stores them
        Candidate candidate;
        std::vector<std::shared_ptr<Session>> sessions;  // by plan
        std::vector<std::map<std::string, std::string>> lowered;
        std::vector<Signatures> signatures;
    };

    CudaReferenceOnDevice(Task task, Variant wide, std::optional<Variant> narrow)
        : task_(std::move(task)), wide_(std::move(wide)), narrow_(std::move(narrow)) {}

    Result<std::vector<Expected>> evaluate(const SymbolValues& symbols,
                                           const std::vector<Tensor>& inputs) override {
        auto wide = run(wide_, symbols, inputs);
        if (!wide) return wide.error();
        if (narrow_) {
            auto narrow = run(*narrow_, symbols, inputs);
            if (!narrow) return narrow.error();
            return expected_from_spread(task_, *wide, *narrow,
                                        "CUDA reference in doubles and in the task's precision");
        }
        // The block cannot be had in another precision: what a rounding of the inputs does to it stands in.
        std::vector<Tensor> nudged = inputs;
        for (Tensor& t : nudged) {
            if (!is_float(t.dtype)) continue;
            const double u = unit_roundoff(t.dtype == DType::f64 ? DType::f64 : DType::f32);
            for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, t.at(i) * (1 + (i % 2 == 0 ? 2 : -2) * u));
        }
        auto narrow = run(wide_, symbols, nudged);
        if (!narrow) return narrow.error();
        return expected_from_spread(task_, *wide, *narrow, "CUDA reference on inputs moved by one rounding");
    }

    static Result<Variant> compile(const Task& page, Compiler& compiler, Device& device,
                                   std::optional<DType> floating,
                                   const std::map<std::string, std::string>& defines) {
        Variant v;
        v.task = page;
        v.task.inputs = page.inputs;
        if (floating) {
            for (auto* list : {&v.task.inputs, &v.task.outputs}) {
                for (TensorSpec& spec : *list) {
                    if (is_float(spec.dtype)) spec.dtype = *floating;
                }
            }
        }
        const std::string file = page.file;
        // Lines of the block are counted from the page's first line.
        ParsedCandidate parsed =
            parse_candidate(v.task,
                            std::string(static_cast<std::size_t>(page.reference_code->line - 1), '\n') +
                                page.reference_code->source,
                            file);
        if (!parsed.ok()) return Error{to_line(parsed.diagnostics.front())};
        v.candidate = std::move(parsed.candidate);
        for (const LaunchPlan& plan : v.candidate.plans) {
            CompileRequest request;
            request.source = v.candidate.source;
            request.file = file;
            request.options = plan.options;
            request.defines = plan.defines;
            request.defines.insert(defines.begin(), defines.end());
            for (const KernelPlan& k : plan.kernels) {
                if (k.is_name_expression()) request.name_expressions.push_back(k.name);
            }
            CompileOutcome compiled = compiler.compile(request);
            if (compiled.environment) return *compiled.environment;
            if (!compiled.build)
                return Error{compiled.diagnostics.empty() ? "it does not compile"
                                                          : to_line(compiled.diagnostics.front())};
            auto opened = device.open(*compiled.build);
            if (!opened) {
                return Error{opened.error().load      ? opened.error().load->message
                             : opened.error().failure ? opened.error().failure->message
                                                      : "it cannot be loaded"};
            }
            v.sessions.push_back(std::move(*opened));
            v.lowered.push_back(compiled.build->lowered_names);
            Signatures signatures;
            for (const KernelPlan& k : plan.kernels) {
                const auto lowered = compiled.build->lowered_names.find(k.name);
                const std::string symbol =
                    lowered == compiled.build->lowered_names.end() ? k.name : lowered->second;
                const auto it = v.sessions.back()->signatures().find(symbol);
                if (it == v.sessions.back()->signatures().end()) {
                    return Error{fmt::format("the reference block has no kernel `{}`", k.name),
                                 {},
                                 0,
                                 0,
                                 "declare it extern \"C\" __global__"};
                }
                signatures[k.name] = it->second;
            }
            v.signatures.push_back(std::move(signatures));
        }
        return v;
    }

  private:
    static Result<std::vector<Tensor>> run(Variant& v, const SymbolValues& symbols,
                                           const std::vector<Tensor>& inputs) {
        const auto plan = choose_plan(v.candidate, v.task, symbols, {});
        if (!plan) return plan.error();
        if (!*plan) return about(v.task, "no launch plan of the reference block holds for this shape");
        const auto index = static_cast<std::size_t>(**plan);
        auto bound = bind_plan(v.candidate, v.task, **plan, symbols, {}, v.signatures[index]);
        if (const auto* diagnostics = std::get_if<std::vector<Diagnostic>>(&bound))
            return about(v.task, to_line(diagnostics->front()));
        std::vector<Tensor> converted;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DType dtype = v.task.inputs[i].dtype;
            if (dtype == inputs[i].dtype) {
                converted.push_back(inputs[i]);
                continue;
            }
            converted.push_back(Tensor::from(dtype, inputs[i].shape, inputs[i].values()));
        }
        const auto& bound_plan = std::get<BoundPlan>(bound);
        Job job = make_job(v.task, bound_plan, converted);
        job.lowered_names = v.lowered[index];
        job.check_races = true;
        const auto outcome = v.sessions[index]->run(job);
        if (!outcome) return about(v.task, outcome.error().message);
        const auto faults = diagnostics_of(*outcome, bound_plan, v.task.file);
        if (!faults.empty()) return about(v.task, to_line(faults.front()));
        std::vector<Tensor> outputs;
        for (const TensorSpec& spec : v.task.outputs) {
            const std::string& buffer = spec.inplace_of.empty() ? spec.name : spec.inplace_of;
            outputs.push_back(take_output(spec, symbols, outcome->fetched.at(buffer)).tensor);
        }
        return outputs;
    }

    Task task_;
    Variant wide_;
    std::optional<Variant> narrow_;
};

}  // namespace

std::vector<Expected> expected_from_spread(const Task& task, const std::vector<Tensor>& wide,
                                           const std::vector<Tensor>& narrow, const std::string& origin) {
    std::vector<Expected> out;
    for (std::size_t k = 0; k < wide.size(); ++k) {
        const TensorSpec& spec = task.outputs[k];
        Expected e;
        e.dtype = spec.dtype;
        e.shape = wide[k].shape;
        const std::int64_t count = wide[k].count();
        e.value.resize(static_cast<std::size_t>(count));
        e.tolerance.resize(static_cast<std::size_t>(count));
        if (!is_float(spec.dtype)) {
            for (std::int64_t i = 0; i < count; ++i) {
                e.value[static_cast<std::size_t>(i)] = wide[k].at(i);
                e.integer.push_back(wide[k].integer_at(i));
            }
            e.bound = origin + "; integers must be equal";
            out.push_back(std::move(e));
            continue;
        }
        // One element's difference can be zero by luck, so the output's root mean square counts for each.
        double squares = 0;
        std::int64_t finite = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const double d = wide[k].at(i) - narrow[k].at(i);
            if (!std::isfinite(d)) continue;
            squares += d * d;
            ++finite;
        }
        const double rms = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const double value = wide[k].at(i);
            const double d = std::fabs(value - narrow[k].at(i));
            const double spread = spread_factor * std::max(std::isfinite(d) ? d : 0.0, rms);
            const double rounding =
                2 * unit_roundoff(spec.dtype) * std::fabs(value) + smallest_positive(spec.dtype);
            e.value[static_cast<std::size_t>(i)] = value;
            e.tolerance[static_cast<std::size_t>(i)] = std::isfinite(value) ? spread + rounding : 0;
        }
        e.bound = fmt::format("{} x the spread between two evaluations ({}), plus the output's rounding",
                              spread_factor, origin);
        out.push_back(std::move(e));
    }
    return out;
}

Result<std::vector<Expected>> command_reference(const Task& task, const SymbolValues& symbols,
                                                const std::vector<Tensor>& inputs) {
    auto wide = run_command_once(task, symbols, inputs, true);
    if (!wide) return wide.error();
    auto narrow = run_command_once(task, symbols, inputs, false);
    if (!narrow) return narrow.error();
    return expected_from_spread(task, *wide, *narrow,
                                "the reference command on float64 and on the task's own arrays");
}

Result<std::unique_ptr<CudaReference>> CudaReference::make(const Task& task, Compiler& compiler,
                                                           Device& device) {
    using Impl = CudaReferenceOnDevice;
    const auto failed = [&](const Error& e) { return about(task, e.str(), e.hint); };
    if (task.reference_dtype == DType::f64) {
        auto wide = Impl::compile(task, compiler, device, DType::f64, {});
        if (!wide) return failed(wide.error());
        auto narrow = Impl::compile(task, compiler, device, DType::f32, {{"double", "float"}});
        return std::unique_ptr<CudaReference>(
            std::make_unique<Impl>(task, std::move(*wide),
                                   narrow ? std::optional<Impl::Variant>(std::move(*narrow)) : std::nullopt));
    }
    auto own = Impl::compile(task, compiler, device, std::nullopt, {});
    if (!own) return failed(own.error());
    bool single = true;  // every floating tensor is f32: doubles can be had by renaming the type
    for (const auto* list : {&task.inputs, &task.outputs}) {
        for (const TensorSpec& spec : *list)
            single = single && (!is_float(spec.dtype) || spec.dtype == DType::f32);
    }
    if (single) {
        auto wide = Impl::compile(task, compiler, device, DType::f64, {{"float", "double"}});
        if (wide)
            return std::unique_ptr<CudaReference>(
                std::make_unique<Impl>(task, std::move(*wide), std::move(*own)));
    }
    return std::unique_ptr<CudaReference>(std::make_unique<Impl>(task, std::move(*own), std::nullopt));
}

}  // namespace kernelwright
