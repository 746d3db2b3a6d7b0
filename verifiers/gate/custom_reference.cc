#include "verifiers/gate/custom_reference.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "harness/candidate/candidate.h"
#include "harness/core/environment.h"
#include "harness/core/files.h"
#include "harness/core/npy.h"
#include "harness/core/text.h"
#include "harness/sandbox/command.h"
#include "verifiers/gate/execution.h"
#include "verifiers/gate/reference_precision.h"
#include "verifiers/numerics/draws.h"
#include "verifiers/numerics/random.h"
#include "verifiers/reference/rounding.h"

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

// The file behind the command's first word, where that is a name on the PATH: which python3 it was.
std::string program_of(const std::string& command) {
    const std::string word = command.substr(0, command.find(' '));
    const std::string path = command_search_path(read_environment("PATH").value_or(""));
    if (word.empty() || word.find_first_of("/;|&$=<>()\"'`") != std::string::npos) return "";
    for (const std::string& folder : split(path, ':')) {
        const std::string file = folder + "/" + word;
        if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
    }
    return "";
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
    if (hint.empty() && (process.error_output.find("No such file") != std::string::npos ||
                         process.error_output.find("can't open file") != std::string::npos))
        hint =
            "only files that the command names by their plain name and that lie beside the page are copied "
            "into its "
            "working directory";
    const std::string said = last_words(process.error_output);
    const std::string program = program_of(task.reference_command);
    return about(task,
                 fmt::format("`{}` {}{}{}", task.reference_command,
                             program.empty() ? "" : fmt::format("({}) ", program), what,
                             said.empty() ? "" : ": " + said),
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
    if (const Status written = write_file_atomic(folder.path() / "params.json", task.params.dump()); !written)
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
    for (const std::string& part : split(task.reference_command, ' ')) {
        if (!part.empty() && part.find('/') == std::string::npos &&
            fs::is_regular_file(page_folder / part, ec))
            fs::copy_file(page_folder / part, folder.path() / part, ec);
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

// Floating inputs, each moved by a share of itself: the first time all by the same, then each by its own. The
// roundings of an evaluation on them are others, and what the move does to an output tells how large the
// terms are that went into it.
std::vector<Tensor> moved(const Task& task, const std::vector<Tensor>& inputs, int sample, double share) {
    std::vector<Tensor> out = inputs;
    for (std::size_t k = 0; k < out.size(); ++k) {
        const TensorSpec& spec = task.inputs[k];
        // Numbers that count or point stay what they are.
        if (!is_float(spec.dtype) || spec.values.kind == "ints" || spec.values.kind == "indices") continue;
        const RandomStream random(static_cast<std::uint64_t>(sample), "moved inputs/" + spec.name);
        const double low = spec.range ? (*spec.range)[0] : -std::numeric_limits<double>::infinity();
        const double high = spec.range ? (*spec.range)[1] : std::numeric_limits<double>::infinity();
        for (std::int64_t i = 0; i < out[k].count(); ++i) {
            const double value = out[k].at(i);
            if (!std::isfinite(value)) continue;
            double by = share;
            if (sample > 0) by *= 0.5 + random.uniform(i);
            if (sample > 0 && random.bits(i, 1) % 2 == 0) by = -by;
            const double there = std::clamp(value * (1 + by), low, high);
            if (std::isfinite(there) && std::fabs(there) <= largest_finite(out[k].dtype))
                out[k].set(i, there);
        }
    }
    return out;
}

bool is_whole(const Tensor& t) {
    if (!is_float(t.dtype)) return true;
    for (std::int64_t i = 0; i < t.count(); ++i) {
        const double value = t.at(i);
        if (!std::isfinite(value) || value != std::floor(value)) return false;
    }
    return true;
}

// The shortest floating type of the page; nullopt where there is none below f64, or f64 takes part.
std::optional<DType> shortest_floating(const Task& task) {
    std::optional<DType> out;
    for (const auto* list : {&task.inputs, &task.outputs}) {
        for (const TensorSpec& spec : *list) {
            if (spec.dtype == DType::f64) return std::nullopt;
            if (is_float(spec.dtype) && (!out || bits(spec.dtype) < bits(*out))) out = spec.dtype;
        }
    }
    return out;
}

class CudaReferenceOnDevice final : public CudaReference {
  public:
    // The block in one precision.
    struct Variant {
        Task task;  // dtypes as this variant stores them
        Candidate candidate;
        std::uint32_t shared_scale = 1;                  // dynamic shared memory, against what the plan says
        std::vector<std::shared_ptr<Session>> sessions;  // by plan
        std::vector<std::map<std::string, std::string>> lowered;
        std::vector<Signatures> signatures;
    };
    struct Answer {
        std::vector<Tensor> outputs;
        Operations operations;
    };

    // `value` gives the right answers. `narrow` is the same in the task's precision, or absent; `own` the
    // block as it stands where tensors are shorter than f32, or absent.
    CudaReferenceOnDevice(Task task, Variant value, std::optional<Variant> narrow, std::optional<Variant> own,
                          std::string warning)
        : task_(std::move(task)),
          value_(std::move(value)),
          narrow_(std::move(narrow)),
          own_(std::move(own)),
          warning_(std::move(warning)) {}

    const std::string& warning() const override { return warning_; }

    Result<std::vector<Expected>> evaluate(const SymbolValues& symbols,
                                           const std::vector<Tensor>& inputs) override {
        auto value = run(value_, symbols, inputs, "in doubles");
        if (!value) return value.error();
        std::optional<Answer> narrow;
        if (narrow_) {
            auto got = run(*narrow_, symbols, inputs, "in single precision");
            if (!got) return got.error();
            narrow = std::move(*got);
        }
        const bool doubles = has_doubles(task_);
        const double u = unit_roundoff(doubles ? DType::f64 : DType::f32);
        Spreads spreads(task_, value->outputs, narrow ? narrow->outputs : value->outputs);
        // On inputs of the page's own short types a smaller move would be rounded away.
        double share = 0x1p-14;
        if (!narrow_) {
            for (const TensorSpec& spec : task_.inputs) {
                if (is_float(spec.dtype)) share = std::max(share, 4 * unit_roundoff(spec.dtype));
            }
        }
        std::vector<Tensor> longer;
        longer.reserve(inputs.size());
        for (const Tensor& t : inputs) {
            const bool widen = narrow_ && is_float(t.dtype) && t.dtype != DType::f64;
            longer.push_back(widen ? Tensor::from(DType::f32, t.shape, t.values()) : t);
        }
        for (int sample = 0; sample < moves_for(value->outputs); ++sample) {
            const std::vector<Tensor> there = moved(task_, longer, sample, share);
            // A block need not bear the inputs that nothing drew.
            const auto wide = run(value_, symbols, there, "");
            if (!wide) continue;
            std::optional<Answer> rounded;
            if (narrow_) {
                auto got = run(*narrow_, symbols, there, "");
                if (!got) continue;
                rounded = std::move(*got);
            }
            spreads.add(wide->outputs, rounded ? &rounded->outputs : nullptr, share, 2 * u);
        }
        spreads.add_roundings((narrow ? *narrow : *value).operations, u);
        const bool whole =
            std::all_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return is_whole(t); });
        if (narrow && whole) spreads.exact_where_sums_are(narrow->operations, u);
        if (own_) {
            const auto own = run(*own_, symbols, inputs, "as it stands");
            if (!own) return own.error();
            spreads.add_own(own->outputs);
        }
        return spreads.expected(narrow_ ? "CUDA reference in doubles and in the task's precision"
                                        : "CUDA reference on inputs moved by one rounding");
    }

    Result<double> work(const SymbolValues& symbols) override {
        std::vector<Tensor> inputs;
        auto drawn = draw_inputs(task_, symbols, tune_case(task_), 1);
        if (!drawn) return drawn.error();
        double total = 0;
        for (Variant* v : {&value_, narrow_ ? &*narrow_ : nullptr}) {
            if (v == nullptr) continue;
            auto prepared = prepare(*v, symbols, *drawn);
            if (!prepared) return prepared.error();
            prepared->job.sample_blocks = 2;
            prepared->job.count = true;
            for (JobBuffer& buffer : prepared->job.buffers) buffer.fetch = false;
            const auto outcome = v->sessions[prepared->index]->run(prepared->job);
            if (!outcome) return about(v->task, outcome.error().message);
            for (const KernelRun& kernel : outcome->kernels)
                total += static_cast<double>(kernel.counters.warp_instructions) *
                         static_cast<double>(kernel.blocks_total) /
                         static_cast<double>(std::max<std::uint64_t>(1, kernel.blocks_run));
        }
        std::int64_t most = 0;
        for (const TensorSpec& spec : task_.outputs) {
            if (const auto shape = spec.shape_at(symbols)) most = std::max(most, element_count(*shape));
        }
        return total * (1 + moves_for(most));
    }

    static Result<Variant> compile(const Task& page, Compiler& compiler, Device& device,
                                   std::optional<DType> floating, bool rename) {
        Variant v;
        v.task = page;
        if (floating) {
            for (auto* list : {&v.task.inputs, &v.task.outputs}) {
                for (TensorSpec& spec : *list) {
                    if (is_float(spec.dtype)) spec.dtype = *floating;
                }
            }
        }
        const std::string file = page.file;
        // Lines of the block are counted from the page's first line.
        ParsedCandidate parsed = parse_candidate(
            v.task,
            std::string(static_cast<std::size_t>(page.reference_code->line - 1), '\n') +
                (rename ? in_precision(page.reference_code->source, *floating) : page.reference_code->source),
            file);
        if (!parsed.ok()) return Error{to_line(parsed.diagnostics.front())};
        v.candidate = std::move(parsed.candidate);
        if (rename) {
            const DType stored =
                page.reference_dtype == DType::f64 ? DType::f64 : shortest_floating(page).value_or(*floating);
            v.shared_scale =
                static_cast<std::uint32_t>(std::max(1, bits(*floating) / std::max(8, bits(stored))));
            for (LaunchPlan& plan : v.candidate.plans) {
                for (ScratchPlan& scratch : plan.scratch) {
                    if (is_float(scratch.dtype)) scratch.dtype = *floating;
                }
            }
        }
        for (const LaunchPlan& plan : v.candidate.plans) {
            CompileRequest request;
            request.source = v.candidate.source;
            request.file = file;
            request.options = plan.options;
            request.defines = plan.defines;
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
    struct Prepared {
        std::size_t index = 0;  // of the plan
        BoundPlan plan;
        Job job;
    };

    static Result<Prepared> prepare(Variant& v, const SymbolValues& symbols,
                                    const std::vector<Tensor>& inputs) {
        const auto plan = choose_plan(v.candidate, v.task, symbols, {});
        if (!plan) return plan.error();
        if (!*plan) return about(v.task, "no launch plan of the reference block holds for this shape");
        Prepared out;
        out.index = static_cast<std::size_t>(**plan);
        auto bound = bind_plan(v.candidate, v.task, **plan, symbols, {}, v.signatures[out.index]);
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
        out.plan = std::move(std::get<BoundPlan>(bound));
        for (BoundKernel& kernel : out.plan.kernels) kernel.dynamic_shared *= v.shared_scale;
        out.job = make_job(v.task, out.plan, converted);
        out.job.lowered_names = v.lowered[out.index];
        return out;
    }

    static Result<Answer> run(Variant& v, const SymbolValues& symbols, const std::vector<Tensor>& inputs,
                              const std::string& how) {
        auto prepared = prepare(v, symbols, inputs);
        if (!prepared) return prepared.error();
        prepared->job.check_races = true;
        prepared->job.count = true;
        const auto outcome = v.sessions[prepared->index]->run(prepared->job);
        const std::string evaluated = how.empty() ? "" : fmt::format("evaluated {}: ", how);
        if (!outcome) return about(v.task, evaluated + outcome.error().message);
        const auto faults = diagnostics_of(*outcome, prepared->plan, v.task.file);
        if (!faults.empty()) return about(v.task, evaluated + to_line(faults.front()));
        Answer answer;
        for (const TensorSpec& spec : v.task.outputs) {
            const std::string& buffer = spec.inplace_of.empty() ? spec.name : spec.inplace_of;
            answer.outputs.push_back(take_output(spec, symbols, outcome->fetched.at(buffer)).tensor);
        }
        for (std::size_t i = 0; i < outcome->kernels.size(); ++i) {
            const emulator::Counters& c = outcome->kernels[i].counters;
            const auto operations =
                static_cast<double>(c.thread_fadd + c.thread_fmul + c.thread_ffma + c.thread_dadd +
                                    c.thread_dmul + c.thread_dfma + c.thread_hadd + c.thread_hmul +
                                    c.thread_hfma + 32 * c.inst_xu + c.tensor_flops / 2);
            const bool talk = c.shared_load_requests + c.shared_store_requests + c.shuffles > 0;
            const auto& block = prepared->plan.kernels[i].block;
            const std::uint64_t groups =
                c.blocks_launched * (talk ? 1 : std::uint64_t{block[0]} * block[1] * block[2]);
            answer.operations.all += operations;
            answer.operations.of_a_group =
                std::max(answer.operations.of_a_group,
                         operations / static_cast<double>(std::max<std::uint64_t>(1, groups)));
        }
        return answer;
    }

    // Evaluations on moved inputs: more where few elements could all be right by luck.
    static int moves_for(std::int64_t elements) { return elements < 4096 ? 3 : 1; }
    static int moves_for(const std::vector<Tensor>& outputs) {
        std::int64_t most = 0;
        for (const Tensor& t : outputs) most = std::max(most, t.count());
        return moves_for(most);
    }

    static bool has_doubles(const Task& task) {
        const auto f64 = [](const TensorSpec& spec) { return spec.dtype == DType::f64; };
        return std::any_of(task.inputs.begin(), task.inputs.end(), f64) ||
               std::any_of(task.outputs.begin(), task.outputs.end(), f64);
    }

    Task task_;
    Variant value_;
    std::optional<Variant> narrow_, own_;
    std::string warning_;
};

}  // namespace

double Operations::of_an_element(std::int64_t elements) const {
    const double own = std::max(1.0, all / static_cast<double>(std::max<std::int64_t>(1, elements)));
    return own + of_a_group / own;
}

Spreads::Spreads(const Task& task, std::vector<Tensor> wide, const std::vector<Tensor>& narrow)
    : task_(task), wide_(std::move(wide)), outputs_(wide_.size()) {
    for (std::size_t k = 0; k < wide_.size(); ++k) {
        const auto count = static_cast<std::size_t>(wide_[k].count());
        outputs_[k].spread.assign(count, 0);
        outputs_[k].terms.assign(count, 0);
        outputs_[k].further.assign(count, 0);
        note_differences(k, wide_[k], narrow[k]);
        outputs_[k].equal = outputs_[k].squares == 0;
    }
}

void Spreads::note_differences(std::size_t k, const Tensor& wide, const Tensor& narrow) {
    if (!is_float(task_.outputs[k].dtype)) return;
    Output& out = outputs_[k];
    for (std::int64_t i = 0; i < wide.count(); ++i) {
        const double d = std::fabs(wide.at(i) - narrow.at(i));
        if (!std::isfinite(d)) continue;
        out.squares += d * d;
        ++out.finite;
        double& spread = out.spread[static_cast<std::size_t>(i)];
        spread = std::max(spread, d);
    }
}

void Spreads::add(const std::vector<Tensor>& wide, const std::vector<Tensor>* narrow, double share,
                  double rounding) {
    for (std::size_t k = 0; k < wide_.size(); ++k) {
        if (!is_float(task_.outputs[k].dtype)) continue;
        Output& out = outputs_[k];
        if (narrow != nullptr) note_differences(k, wide[k], (*narrow)[k]);
        for (std::int64_t i = 0; i < wide_[k].count(); ++i) {
            const double terms = std::fabs(wide[k].at(i) - wide_[k].at(i)) / share;
            if (!std::isfinite(terms)) continue;
            double& most = out.terms[static_cast<std::size_t>(i)];
            most = std::max(most, terms);
            if (narrow == nullptr) {
                // Without another precision: what a rounding of the inputs does.
                double& spread = out.spread[static_cast<std::size_t>(i)];
                spread = std::max(spread, rounding * terms);
            }
        }
    }
}

void Spreads::add_roundings(const Operations& operations, double u) {
    u_ = u;
    for (std::size_t k = 0; k < wide_.size(); ++k) {
        Output& out = outputs_[k];
        const double each = operations.of_an_element(wide_[k].count());
        // Terms that the reference makes itself (the exponentials of a constant row) are no smaller than the
        // result.
        for (std::size_t i = 0; i < out.terms.size(); ++i) {
            const double value = std::fabs(wide_[k].at(static_cast<std::int64_t>(i)));
            if (std::isfinite(value)) out.further[i] += each * u * std::max(out.terms[i], value);
        }
    }
}

void Spreads::exact_where_sums_are(const Operations& operations, double u) {
    for (std::size_t k = 0; k < wide_.size(); ++k) {
        Output& out = outputs_[k];
        if (!out.equal || !is_whole(wide_[k])) continue;
        // The sum of the terms' magnitudes is at most so much, since `terms` is at least about their 2-norm.
        const double each = operations.of_an_element(wide_[k].count());
        const double largest = out.terms.empty() ? 0 : *std::max_element(out.terms.begin(), out.terms.end());
        if (std::sqrt(std::max(1.0, each)) * largest > 1 / u) continue;
        out.squares = 0;
        std::fill(out.further.begin(), out.further.end(), 0.0);
        for (std::size_t i = 0; i < out.spread.size(); ++i)
            out.spread[i] = u * std::fabs(wide_[k].at(static_cast<std::int64_t>(i)));
    }
}

void Spreads::add_own(const std::vector<Tensor>& own) {
    for (std::size_t k = 0; k < wide_.size(); ++k) {
        const TensorSpec& spec = task_.outputs[k];
        if (!is_float(spec.dtype)) continue;
        const reference::Rounder rounder(spec.dtype);
        Output& out = outputs_[k];
        std::vector<double> excess(out.spread.size(), 0);
        double squares = 0;
        for (std::int64_t i = 0; i < wide_[k].count(); ++i) {
            const double value = wide_[k].at(i);
            const double d = std::fabs(own[k].at(i) - value);
            if (!std::isfinite(d)) continue;
            const double beyond = std::max(0.0, d - rounder.half_ulp(std::fabs(value)));
            excess[static_cast<std::size_t>(i)] = beyond;
            squares += beyond * beyond;
        }
        const double rms = std::sqrt(squares / std::max(1.0, static_cast<double>(excess.size())));
        for (std::size_t i = 0; i < excess.size(); ++i) out.further[i] += 2 * std::max(excess[i], rms);
    }
}

std::vector<Expected> Spreads::expected(const std::string& origin) const {
    std::vector<Expected> result;
    for (std::size_t k = 0; k < wide_.size(); ++k) {
        const TensorSpec& spec = task_.outputs[k];
        const Output& out = outputs_[k];
        Expected e;
        e.dtype = spec.dtype;
        e.shape = wide_[k].shape;
        const std::int64_t count = wide_[k].count();
        e.value.resize(static_cast<std::size_t>(count));
        e.tolerance.resize(static_cast<std::size_t>(count));
        if (!is_float(spec.dtype)) {
            for (std::int64_t i = 0; i < count; ++i) {
                e.value[static_cast<std::size_t>(i)] = wide_[k].at(i);
                e.integer.push_back(wide_[k].integer_at(i));
            }
            e.bound = origin + "; integers must be equal";
            result.push_back(std::move(e));
            continue;
        }
        // One element's difference can be zero by luck, so the output's root mean square counts for each, and
        // half of a rounding of the result.
        const double rms = out.finite > 0 ? std::sqrt(out.squares / static_cast<double>(out.finite)) : 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double value = wide_[k].at(i);
            const double spread = std::max({out.spread[at], rms, u_ / 4 * std::fabs(value)});
            const double rounding =
                2 * unit_roundoff(spec.dtype) * std::fabs(value) + smallest_positive(spec.dtype);
            e.value[at] = value;
            e.tolerance[at] = std::isfinite(value) ? spread_factor * spread + out.further[at] + rounding : 0;
        }
        e.bound = fmt::format(
            "{} x the spread between evaluations ({}), plus a rounding of the terms for each operation, plus "
            "the "
            "output's rounding",
            spread_factor, origin);
        result.push_back(std::move(e));
    }
    return result;
}

Result<std::vector<Expected>> command_reference(const Task& task, const SymbolValues& symbols,
                                                const std::vector<Tensor>& inputs) {
    auto wide = run_command_once(task, symbols, inputs, true);
    if (!wide) return wide.error();
    auto narrow = run_command_once(task, symbols, inputs, false);
    if (!narrow) return narrow.error();
    return Spreads(task, std::move(*wide), *narrow)
        .expected("the reference command on float64 and on the task's own arrays");
}

Result<std::unique_ptr<CudaReference>> CudaReference::make(const Task& task, Compiler& compiler,
                                                           Device& device) {
    using Impl = CudaReferenceOnDevice;
    using Variant = Impl::Variant;
    const bool stands_in_doubles = task.reference_dtype == DType::f64;
    auto own = Impl::compile(task, compiler, device,
                             stands_in_doubles ? std::optional(DType::f64) : std::nullopt, false);
    if (!own) return about(task, own.error().str(), own.error().hint);
    const auto made = [&](Variant value, std::optional<Variant> narrow, std::optional<Variant> as_it_stands,
                          std::string warning) {
        return std::unique_ptr<CudaReference>(std::make_unique<Impl>(
            task, std::move(value), std::move(narrow), std::move(as_it_stands), std::move(warning)));
    };
    const std::optional<DType> shortest = shortest_floating(task);
    // In a task of doubles (or of integers alone) both precisions are one.
    if (!stands_in_doubles && !shortest) return made(std::move(*own), {}, {}, {});
    std::optional<std::string> why = stays_in_its_precision(task, own->candidate);
    std::optional<Variant> wide, narrow;
    const auto renamed = [&](DType to, const char* what) {
        auto variant = Impl::compile(task, compiler, device, to, true);
        if (variant) return std::optional(std::move(*variant));
        why = fmt::format("{}: {}", what, variant.error().str());
        return std::optional<Variant>();
    };
    if (!why) narrow = renamed(DType::f32, "its form in single precision does not compile");
    if (!why && !stands_in_doubles) wide = renamed(DType::f64, "its form in doubles does not compile");
    if (why) {
        return made(std::move(*own), {}, {},
                    fmt::format("the page's reference is evaluated in one precision only ({}), so that its "
                                "bound is derived from moved inputs, which is coarser",
                                *why));
    }
    if (stands_in_doubles) return made(std::move(*own), std::move(narrow), {}, {});
    const bool short_types = bits(*shortest) < 32;
    return made(std::move(*wide), std::move(narrow),
                short_types ? std::optional(std::move(*own)) : std::nullopt, {});
}

}  // namespace kernelwright
