// The idea: a verdict is a sequence of questions, cheap ones first, and the first "no" ends it. Before
// compiling, the plan and the source are read. After compiling, shapes are taken from the smallest to the
// largest; on each, one draw is run with every check on (races, bounds, initialisation), then further draws
// with other values, other block and warp orders, other addresses and other poison, all on the same loaded
// module, so that state which survives a launch shows; where the module has variables to keep it in, draws
// that differ in a few elements only follow the one that they differ from. A wrong answer is tried again on a
// freshly loaded module and in natural order to tell a wrong formula (numerics) from a result that depends on
// what it must not depend on (integrity). The number of draws on a large shape is decided by executed
// instructions, never by the clock, so that the same candidate gets the same cases everywhere.
#include "verifiers/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>
#include <utility>

#include "verifiers/gate/builds.h"
#include "verifiers/gate/changed_draws.h"
#include "verifiers/gate/execution.h"
#include "verifiers/gate/policy.h"
#include "verifiers/gate/unlisted_shapes.h"
#include "verifiers/numerics/compare.h"
#include "verifiers/numerics/draws.h"
#include "verifiers/numerics/poison.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

std::uint64_t mix(std::uint64_t a, const std::string& text) {
    std::uint64_t h = a * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return h ^ (h >> 29);
}

std::string shape_text(const SymbolValues& symbols, const char* separator = " ") {
    std::string out;
    for (const auto& [name, value] : symbols)
        out += fmt::format("{}{}={}", out.empty() ? "" : separator, name, value);
    return out;
}

std::int64_t elements_of(const Task& task, const SymbolValues& symbols) {
    std::int64_t total = 0;
    for (const auto* list : {&task.inputs, &task.outputs}) {
        for (const TensorSpec& spec : *list) {
            const auto shape = spec.shape_at(symbols);
            if (shape) total += element_count(*shape);
        }
    }
    return total;
}

// One draw that is to be run.
struct Case {
    std::string name;
    std::uint64_t seed = 1;
    bool thorough = false;  // races are looked for
    bool natural = false;   // natural block and warp order
    bool primes = false;    // only leaves its traces in the module; what comes of it is not looked at
    // A changed draw: it is launched right after the draw that it differs from, with the buffers where that
    // had them.
    bool changed = false;
};

class Check {
  public:
    Check(const Task& task, const std::string& source, const std::string& file, const GateParts& parts,
          const GateOptions& options)
        : task_(task), parts_(parts), options_(options) {
        report_.task = task.name;
        report_.candidate = file;
        report_.device = parts.device.name();
        report_.target = options.target;
        source_ = source;
        file_ = file;
    }

    CheckReport run() {
        decide();
        std::stable_sort(report_.diagnostics.begin(), report_.diagnostics.end(),
                         [](const Diagnostic& a, const Diagnostic& b) { return a.severity < b.severity; });
        const auto first = std::find_if(report_.diagnostics.begin(), report_.diagnostics.end(),
                                        [](const Diagnostic& d) { return d.severity == Severity::error; });
        const bool failed = first != report_.diagnostics.end();
        report_.pass = !failed && !report_.environment && !report_.page_fault && !report_.interrupted;
        if (failed) report_.stage = first->stage;
        write_replay(failed ? &*first : nullptr);
        return std::move(report_);
    }

  private:
    // ---- the stages, each false when the verdict is decided ----

    void decide() {
        ParsedCandidate parsed = parse_candidate(task_, source_, file_, defaults_for(task_.check_shapes));
        candidate_ = std::move(parsed.candidate);
        if (!add(std::move(parsed.diagnostics))) return;
        if (!add(check_policy(candidate_, task_))) return;
        Builds builds =
            make_builds(candidate_, options_.target, parts_.targets, parts_.compiler, parts_.device);
        if (builds.environment) {
            report_.environment = std::move(builds.environment);
            return;
        }
        if (!add(std::move(builds.diagnostics))) return;
        builds_ = std::move(builds.plans);
        if (!builds_.empty()) {
            report_.target = builds_.front().facts.target;
            report_.facts = builds_.front().facts.name;
            for (const PlanBuild& build : builds_)
                report_.resources.insert(build.resources.begin(), build.resources.end());
            report_mutable_state();
        }
        std::vector<SymbolValues> check = task_.check_shapes;
        std::vector<SymbolValues> tune = options_.tune ? task_.tune_shapes : std::vector<SymbolValues>{};
        if (options_.shape) {
            check = {*options_.shape};
            tune.clear();
        }
        if (!check_guards(check, tune)) return;
        if (const std::string warning = parts_.expectations.warning(); !warning.empty()) {
            Diagnostic d = plain("reference-in-one-precision", Stage::numerics, warning);
            d.file = task_.file;
            d.line = task_.reference_code ? task_.reference_code->line : 0;
            d.severity = Severity::warning;
            d.hint =
                "write the block in plain C++ on pointers to the tensors' own types, or in doubles under "
                "`reference_dtype: f64`; or give the page a `tolerance`";
            report_.diagnostics.push_back(std::move(d));
        }
        std::stable_sort(check.begin(), check.end(), [&](const SymbolValues& a, const SymbolValues& b) {
            return elements_of(task_, a) < elements_of(task_, b);
        });
        const Effort listed{options_.work_per_shape, parts_.expectations.most_draws()};
        for (std::size_t i = 0; i < check.size(); ++i) {
            if (!check_shape(check[i], i, listed)) return;
        }
        if (!options_.shape && !check_unlisted(check.size())) return;
        for (const SymbolValues& symbols : tune) {
            if (!tune_shape(symbols)) return;
        }
    }

    // Every shape needs a plan, every guard a shape that it holds for.
    bool check_guards(const std::vector<SymbolValues>& check, const std::vector<SymbolValues>& tune) {
        std::set<int> used;
        std::vector<SymbolValues> all = check;
        all.insert(all.end(), tune.begin(), tune.end());
        for (const SymbolValues& symbols : all) {
            const auto plan = plan_for(symbols);
            if (!plan) {
                return add({bad_guard(plan.error(), symbols)});
            }
            if (!*plan) {
                Diagnostic d = plain("no-plan-holds", Stage::plan,
                                     fmt::format("no launch plan holds for {}", shape_text(symbols, ", ")));
                d.hint = "add a plan without `when` as the last one";
                d.line = candidate_.plans.empty() ? 0 : candidate_.plans.front().line;
                d.shape = symbols;
                return add({std::move(d)});
            }
            used.insert(**plan);
        }
        if (options_.shape || !options_.tune) return true;
        std::vector<Diagnostic> found;
        for (std::size_t i = 0; i < candidate_.plans.size(); ++i) {
            if (used.contains(static_cast<int>(i)) || find_shape_for(static_cast<int>(i))) continue;
            Diagnostic d =
                plain("guard-never-holds", Stage::plan,
                      fmt::format("plan {} is launched for no shape that is checked, so it was not verified",
                                  i + 1));
            d.line = candidate_.plans[i].line;
            d.hint = "remove the plan, or mend its guard";
            if (!candidate_.plans[i].when) {
                // The rest after guards that leave none: no shape that the page can have meets it.
                d.rule = "plan-never-launched";
                d.severity = Severity::note;
                d.message += "; the guards before it hold for all of them";
                d.hint = "";
            }
            found.push_back(std::move(d));
        }
        return add(std::move(found));
    }

    // A plan that no listed shape meets is verified at shapes that the page does not list, where there are
    // any.
    bool find_shape_for(int plan) {
        constexpr std::uint64_t lists = 24;
        constexpr std::size_t enough = 2;
        std::size_t found = 0;
        for (std::uint64_t list = 0; list < lists && found < enough; ++list) {
            for (const SymbolValues& symbols :
                 unlisted_shapes(task_, options_.seed + list, shapes_of_a_list)) {
                const auto chosen = plan_for(symbols);
                if (!chosen || *chosen != plan || found == enough) continue;
                if (std::find(for_plans_.begin(), for_plans_.end(), symbols) != for_plans_.end()) continue;
                for_plans_.push_back(symbols);
                ++found;
            }
        }
        for (const RangeEnd& end : range_ends(task_)) {
            const auto chosen = plan_for(end.symbols);
            if (found > 0 || !end.bearable || !chosen || *chosen != plan) continue;
            for_plans_.push_back(end.symbols);
            ++found;
        }
        return found > 0;
    }

    // Shapes that the page does not list. A plan that holds there is held to it like any other; where none
    // holds, that is the candidate's good right, and is said.
    bool check_unlisted(std::size_t shape_index) {
        const std::size_t draws = std::min<std::size_t>(unlisted_draws, parts_.expectations.most_draws());
        const Effort effort{options_.work_per_shape / 4, draws};
        const std::uint64_t affordable = std::max<std::uint64_t>(executed_ * 3 / 10, unlisted_work);
        const std::uint64_t before = executed_;
        std::vector<SymbolValues> shapes = for_plans_;
        for (const SymbolValues& symbols :
             unlisted_shapes(task_, options_.seed, parts_.expectations.most_unlisted_shapes())) {
            if (std::find(shapes.begin(), shapes.end(), symbols) == shapes.end()) shapes.push_back(symbols);
        }
        if (!check_range_ends(shapes)) return false;
        std::size_t checked = 0;
        for (const SymbolValues& symbols : shapes) {
            if (checked >= for_plans_.size() + unlisted_at_least && executed_ - before > affordable) break;
            const auto plan = plan_for(symbols);
            if (!plan) return add({bad_guard(plan.error(), symbols)});
            if (!*plan) {
                report_.diagnostics.push_back(
                    note_on(symbols, "shape-uncovered", Stage::plan,
                            fmt::format("no launch plan holds for {}, a shape that the page does not list",
                                        shape_text(symbols, ", "))));
                continue;
            }
            if (!check_shape(symbols, shape_index++, effort)) {
                if (!report_.page_fault) return false;
                // A reference of the page's own need not know shapes that the page does not list.
                report_.diagnostics.push_back(
                    note_on(symbols, "shape-left-out", Stage::numerics,
                            fmt::format("the page's reference has no answer for {}: {}",
                                        shape_text(symbols, ", "), report_.page_fault->message)));
                report_.page_fault.reset();
                continue;
            }
            ++checked;
        }
        return true;
    }

    // The ends of declared ranges: those that cost little join `shapes`; of the others the plan must at least
    // be one that the device can launch. Where no plan holds, that is the candidate's good right.
    bool check_range_ends(std::vector<SymbolValues>& shapes) {
        for (const RangeEnd& end : range_ends(task_)) {
            const auto plan = plan_for(end.symbols);
            if (!plan) return add({bad_guard(plan.error(), end.symbols)});
            if (*plan) {
                const std::optional<BoundPlan> bound = bind(end.symbols);
                if (!bound) return false;
                std::vector<Diagnostic> refused =
                    check_launch(*bound, builds_[static_cast<std::size_t>(bound->plan)], file_);
                for (Diagnostic& d : refused) {
                    d.shape = end.symbols;
                    d.message += fmt::format("; {} is the end of a range that the page declares",
                                             shape_text(end.symbols, ", "));
                }
                if (!add(std::move(refused))) return false;
            }
            const bool known = std::find(shapes.begin(), shapes.end(), end.symbols) != shapes.end();
            if ((end.cheap || !*plan) && !known) shapes.push_back(end.symbols);
        }
        return true;
    }

    // What one shape may take: executed warp instructions of the draws beyond the first, and draws.
    struct Effort {
        std::uint64_t work;
        std::size_t draws;
    };

    bool check_shape(const SymbolValues& symbols, std::size_t shape_index, const Effort& effort) {
        const std::optional<BoundPlan> bound = bind(symbols);
        if (!bound) return false;
        PlanBuild& build = builds_[static_cast<std::size_t>(bound->plan)];
        std::vector<Diagnostic> refused = check_launch(*bound, build, file_);
        for (Diagnostic& d : refused) d.shape = symbols;
        if (!add(std::move(refused))) return false;
        met_plans_.insert(bound->plan);

        std::vector<Case> cases = choose_cases(build);
        std::size_t count = cases.size();
        const bool keeps_state = !mutable_globals(build).empty();
        for (std::size_t i = 0; i < count; ++i) {
            // After the first draw it is known which others there will be.
            if (i > 0) prefetch(symbols, cases, i + 1, count);
            const std::optional<std::uint64_t> executed = run_case(*bound, build, symbols, cases[i]);
            if (!executed) return false;
            if (i == 0 && !options_.case_name) {
                const std::uint64_t affordable =
                    std::max<std::uint64_t>(2, 1 + effort.work / (*executed + 1));
                if (count > 2)
                    count = keep_draws(cases, std::min<std::uint64_t>(affordable, effort.draws), shape_index);
                if (keeps_state) count = add_changed_draws(cases, effort, *executed, shape_index);
            }
        }
        ++report_.shapes_checked;
        return true;
    }

    // Leaves `wanted` of the draws. Which ones a shape keeps takes turns with its place, so that each is met
    // on some shape; the first, and the second launch sequence with other data at the end, always stay.
    static std::size_t keep_draws(std::vector<Case>& cases, std::uint64_t wanted, std::size_t shape_index) {
        if (wanted >= cases.size()) return cases.size();
        const std::size_t between = cases.size() - 2;
        const std::size_t turn = shape_index * std::max<std::size_t>(1, wanted - 2) % between;
        std::rotate(cases.begin() + 1, cases.begin() + 1 + static_cast<std::ptrdiff_t>(turn),
                    cases.end() - 1);
        cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(wanted) - 1, cases.end() - 1);
        return cases.size();
    }

    // Where results can be kept from one launch to the next, draws that a stale one passes for, as many as
    // half of the work on the shape pays; a shape that its first draw did not exhaust gets at least one.
    std::size_t add_changed_draws(std::vector<Case>& cases, const Effort& effort, std::uint64_t executed,
                                  std::size_t shape_index) const {
        std::vector<std::string> names = changed_cases_for(task_);
        const std::uint64_t affordable = effort.work / 2 / (2 * executed + 1);
        const std::uint64_t wanted = std::max<std::uint64_t>(affordable, executed <= effort.work ? 1 : 0);
        const std::size_t most = std::max<std::size_t>(1, effort.draws / 2);
        if (!names.empty()) {
            std::rotate(names.begin(),
                        names.begin() + static_cast<std::ptrdiff_t>(shape_index % names.size()), names.end());
        }
        for (std::size_t i = 0; i < names.size() && i < std::min<std::uint64_t>(wanted, most); ++i)
            cases.push_back({names[i], options_.seed, false, false, false, true});
        return cases.size();
    }

    // The draws of a shape: each case the task can bear, then the first again with other values.
    std::vector<Case> choose_cases(const PlanBuild& build) const {
        if (options_.case_name) {
            if (is_changed_case(*options_.case_name))
                return {{*options_.case_name, options_.seed, true, false, false, true}};
            const bool first = *options_.case_name == "normal" && options_.seed == 1;
            const Case asked{*options_.case_name, options_.seed, true, first};
            // In a module that can keep something, what an earlier launch leaves must show as it did before.
            if (mutable_globals(build).empty()) return {asked};
            return {asked, {"normal", first ? std::uint64_t{2} : 1, true, true, true}, asked};
        }
        std::vector<Case> cases;
        for (const std::string& name : cases_for(task_)) {
            cases.push_back({name, options_.seed, cases.empty(), cases.empty()});
        }
        cases.push_back({"normal", options_.seed + 1, false, false});
        return cases;
    }

    std::optional<BoundPlan> bind(const SymbolValues& symbols) {
        const auto plan = plan_for(symbols);
        const int index = plan && *plan ? **plan : 0;
        const PlanBuild& build = builds_[static_cast<std::size_t>(index)];
        auto bound = bind_plan(candidate_, task_, index, symbols, build.environment, build.signatures,
                               default_params(task_, symbols));
        if (auto* diagnostics = std::get_if<std::vector<Diagnostic>>(&bound)) {
            for (Diagnostic& d : *diagnostics) {
                if (d.shape.empty()) d.shape = symbols;
            }
            add(std::move(*diagnostics));
            return std::nullopt;
        }
        return std::move(std::get<BoundPlan>(bound));
    }

    Job job_for(const BoundPlan& bound, const PlanBuild& build, const SymbolValues& symbols, const Case& c,
                const CaseExpectation& expectation) const {
        Job job = make_job(task_, bound, expectation.inputs);
        job.lowered_names = build.build->lowered_names;
        job.limits = to_emulator_limits(build.facts);
        job.check_races = c.thorough;
        job.count = c.thorough;
        const std::uint64_t variation = mix(c.seed, c.name + shape_text(symbols));
        job.schedule_seed = c.natural ? 0 : variation | 1;
        job.address_seed = c.changed ? mix(c.seed, unchanged_case + shape_text(symbols)) : variation;
        job.poison = poison_byte(variation);
        job.max_time = options_.time_per_launch;
        job.max_warp_instructions = instruction_budget(job, symbols);
        return job;
    }

    // Runs one draw; the executed warp instructions, or nullopt when the verdict is decided.
    std::optional<std::uint64_t> run_case(const BoundPlan& bound, PlanBuild& build,
                                          const SymbolValues& symbols, const Case& c) {
        if (options_.stop.stop_requested()) {
            report_.interrupted = true;
            return std::nullopt;
        }
        if (options_.progress && !c.primes)
            options_.progress(fmt::format("{}: {}", shape_text(symbols), c.name));
        const auto expectation = parts_.expectations.get(symbols, c.name, c.seed);
        if (!expectation) {
            report_.page_fault = expectation.error();
            return std::nullopt;
        }
        if (c.changed) {
            // What this launch answers was verified before; it is there to be remembered.
            const Case before{unchanged_case, c.seed};
            const auto start = parts_.expectations.get(symbols, before.name, before.seed);
            if (!start) {
                report_.page_fault = start.error();
                return std::nullopt;
            }
            const auto launched = build.session->run(job_for(bound, build, symbols, before, **start));
            if (!launched) {
                job_failed(launched.error(), symbols, before);
                return std::nullopt;
            }
        }
        const Job job = job_for(bound, build, symbols, c, **expectation);
        const auto outcome = build.session->run(job);
        if (c.primes) return 0;
        ++report_.cases_checked;
        if (!outcome) {
            job_failed(outcome.error(), symbols, c);
            return std::nullopt;
        }
        std::vector<Diagnostic> found = diagnostics_of(*outcome, bound, file_);
        std::stable_sort(found.begin(), found.end(),
                         [](const Diagnostic& a, const Diagnostic& b) { return a.stage < b.stage; });
        if (found.empty()) {
            found = compare_outputs(*outcome, bound, **expectation);
            if (!found.empty()) classify(found, bound, build, symbols, c, **expectation);
        }
        if (!found.empty()) {
            hint_at_starts(found, c);
            decide_failure(std::move(found), symbols, c);
            return std::nullopt;
        }
        std::uint64_t executed = 0;
        for (const KernelRun& run : outcome->kernels) executed += run.counters.warp_instructions;
        executed_ += executed;
        return executed;
    }

    // What goes wrong at an end of the type alone is most often the value that an extremum starts from.
    void hint_at_starts(std::vector<Diagnostic>& found, const Case& c) const {
        static const std::set<std::string> maxima{"max",       "argmax",          "softmax",   "log_softmax",
                                                  "logsumexp", "cross_entropy",   "maxpool2d", "topk",
                                                  "attention", "attention_decode"};
        const bool lowest = c.name == "lowest" && maxima.contains(task_.op);
        const bool highest = c.name == "highest" && (task_.op == "min" || task_.op == "argmin");
        if (!lowest && !highest) return;
        for (Diagnostic& d : found) {
            if (d.rule != "wrong-value") continue;
            d.hint =
                lowest
                    ? "a maximum starts from a value above the lowest number: start from -INFINITY, or from "
                      "the first element"
                    : "a minimum starts from a value below the largest number: start from INFINITY, or from "
                      "the first element";
        }
    }

    // Is a wrong answer wrong by itself, or because of an earlier launch or of the order in which blocks ran?
    void classify(std::vector<Diagnostic>& found, const BoundPlan& bound, PlanBuild& build,
                  const SymbolValues& symbols, const Case& c, const CaseExpectation& expectation) {
        const auto right_when = [&](const Case& again, bool reload) {
            if (reload) build.session->reload();
            const auto outcome = build.session->run(job_for(bound, build, symbols, again, expectation));
            return outcome && outcome->clean() && compare_outputs(*outcome, bound, expectation).empty();
        };
        if (right_when(c, true)) {
            Diagnostic d = plain("persistent-state", Stage::integrity,
                                 "the answer depends on an earlier launch: on a freshly loaded module the "
                                 "same inputs give the "
                                 "right result");
            const std::string names = mutable_globals(build);
            if (!names.empty())
                d.message += fmt::format("; these variables keep their values between launches: {}", names);
            d.hint = "keep nothing in __device__ variables from one launch sequence to the next; use scratch";
            d.line = found.front().line;
            d.kernel = found.front().kernel;
            found.insert(found.begin(), std::move(d));
            return;
        }
        if (c.natural) return;
        Case natural = c;
        natural.natural = true;
        if (right_when(natural, true)) {
            Diagnostic d = plain("order-dependent", Stage::integrity,
                                 "the answer depends on the order in which blocks and warps run: in natural "
                                 "order it is right");
            d.hint = "no block may rely on another having run before it";
            d.line = found.front().line;
            d.kernel = found.front().kernel;
            found.insert(found.begin(), std::move(d));
        }
    }

    std::vector<Diagnostic> compare_outputs(const JobOutcome& outcome, const BoundPlan& bound,
                                            const CaseExpectation& expectation, bool sampled = false) const {
        std::vector<Diagnostic> found;
        for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
            const TensorSpec& spec = task_.outputs[i];
            const std::string& buffer = spec.inplace_of.empty() ? spec.name : spec.inplace_of;
            const auto fetched = outcome.fetched.find(buffer);
            if (fetched == outcome.fetched.end()) continue;
            const GotOutput got = take_output(spec, bound.symbols, fetched->second);
            CompareOptions how;
            how.name = spec.name;
            how.exact = task_.exact;
            const auto tolerance = task_.tolerance.find(spec.name);
            if (tolerance != task_.tolerance.end()) how.tolerance = tolerance->second;
            how.written = got.written.empty() ? nullptr : &got.written;
            how.ignore_unwritten = sampled;
            for (std::size_t k = 0; k < task_.inputs.size(); ++k)
                how.inputs.emplace_back(task_.inputs[k].name, &expectation.inputs[k]);
            const Comparison comparison = compare(expectation.outputs[i], got.tensor, how);
            if (comparison.ok()) continue;
            Diagnostic d =
                plain(comparison.rule, Stage::numerics, comparison.message + input_ranges(expectation));
            d.hint = comparison.hint;
            // Far from right has too many causes to name one.
            constexpr double near = 100;
            if (d.hint.empty() && comparison.rule == "wrong-value" && comparison.bound > 0 &&
                comparison.error <= near * comparison.bound)
                d.hint =
                    "near, but beyond rounding: look for a narrow accumulator, an intermediate that is "
                    "rounded, "
                    "an approximate function or terms that cancel";
            blame_writer(bound, spec, d);
            found.push_back(std::move(d));
        }
        return found;
    }

    // The last kernel of the launched plan that may write the output; its name too where no other may.
    static void blame_writer(const BoundPlan& bound, const TensorSpec& output, Diagnostic& d) {
        if (bound.kernels.empty()) return;
        std::vector<const BoundKernel*> writers;
        for (const BoundKernel& kernel : bound.kernels) {
            const bool writes = std::any_of(
                kernel.arguments.begin(), kernel.arguments.end(), [&](const BoundArgument& argument) {
                    const bool bound_here =
                        argument.buffer == output.name ||
                        (!output.inplace_of.empty() && argument.buffer == output.inplace_of);
                    return bound_here && !argument.parameter.starts_with("const ");
                });
            if (writes) writers.push_back(&kernel);
        }
        d.line = (writers.empty() ? bound.kernels.back() : *writers.back()).line;
        if (writers.size() == 1) d.kernel = writers.front()->name;
    }

    // "; inputs here: x from -3.1 to 2.9": what a draw looks like tells an author more than its name.
    std::string input_ranges(const CaseExpectation& expectation) const {
        std::string out;
        for (std::size_t k = 0; k < task_.inputs.size() && k < 4; ++k) {
            const Tensor& t = expectation.inputs[k];
            double low = 0, high = 0;
            for (std::int64_t i = 0; i < t.count(); ++i) {
                const double v = t.at(i);
                if (i == 0 || v < low) low = v;
                if (i == 0 || v > high) high = v;
            }
            std::string from = fmt::format("{:.4g}", low), to = fmt::format("{:.4g}", high);
            for (int digits = 5; from == to && low < high && digits <= 17; ++digits) {
                from = fmt::format("{:.{}g}", low, digits);
                to = fmt::format("{:.{}g}", high, digits);
            }
            out += fmt::format("{} {} from {} to {}", out.empty() ? "; inputs here:" : ",",
                               task_.inputs[k].name, from, to);
        }
        return out;
    }

    // ---- tune shapes: counted, and verified as far as is affordable ----

    bool tune_shape(const SymbolValues& symbols) {
        const std::optional<BoundPlan> bound = bind(symbols);
        if (!bound) return false;
        PlanBuild& build = builds_[static_cast<std::size_t>(bound->plan)];
        if (!add(check_launch(*bound, build, file_))) return false;
        if (options_.stop.stop_requested()) {
            report_.interrupted = true;
            return false;
        }
        if (options_.progress) options_.progress(fmt::format("{}: tune shape", shape_text(symbols)));
        Case c{tune_case(task_), options_.seed, false, true};
        CaseExpectation inputs_only;
        std::shared_ptr<const CaseExpectation> expectation;
        const std::optional<std::string> too_large = parts_.expectations.too_large(symbols);
        if (!too_large) {
            auto got = parts_.expectations.get(symbols, c.name, c.seed);
            if (!got) {
                report_.page_fault = got.error();
                return false;
            }
            expectation = *got;
        } else {
            auto inputs = draw_inputs(task_, symbols, c.name, c.seed);
            if (!inputs) {
                report_.page_fault = inputs.error();
                return false;
            }
            inputs_only.inputs = std::move(*inputs);
        }
        const CaseExpectation& use = expectation ? *expectation : inputs_only;
        Job job = job_for(*bound, build, symbols, c, use);
        job.count = true;
        job.check_races = false;
        if (expectation == nullptr) {
            for (JobBuffer& buffer : job.buffers) buffer.fetch = false;
        }
        const TuneOutcome tuned = run_tune_job(*bound, build, job);
        ++report_.cases_checked;
        if (!tuned.outcome) return job_failed(tuned.outcome.error(), symbols, c);
        const JobOutcome& outcome = *tuned.outcome;
        const bool whole = tuned.whole;
        std::vector<Diagnostic> found = diagnostics_of(outcome, *bound, file_);
        // A kernel after a sampled one works on what was not computed: what it does there says nothing.
        if (!whole && bound->kernels.size() > 1) {
            std::erase_if(found, [&](const Diagnostic& d) {
                return d.stage == Stage::sanitize && d.kernel != bound->kernels.front().name;
            });
        }
        const bool comparable = expectation != nullptr && (whole || bound->kernels.size() == 1);
        if (found.empty() && comparable) found = compare_outputs(outcome, *bound, use, !whole);
        if (!found.empty()) return decide_failure(std::move(found), symbols, c);
        if (!comparable) {
            const std::string reason =
                too_large ? *too_large
                          : "the plan's kernels depend on each other and are too much work to run whole";
            Diagnostic note = plain(
                "tune-shape-unverified", Stage::numerics,
                fmt::format(
                    "{}: the values are not verified here: {}; bounds and counters were checked on blocks "
                    "spread over the grid",
                    shape_text(symbols, ", "), reason));
            note.severity = Severity::note;
            note.hint = "a check shape of the same kind, or a smaller tune shape, is verified";
            if (!met_plans_.contains(bound->plan)) {
                // Nothing that this plan computes was ever compared.
                note.rule = "plan-unverified";
                note.stage = Stage::plan;
                note.severity = Severity::error;
                note.line = candidate_.plans[static_cast<std::size_t>(bound->plan)].line;
                note.message = fmt::format("plan {} is launched only for {}, which is too large to verify",
                                           bound->plan + 1, shape_text(symbols, ", "));
                note.hint = "widen its guard, so that it also holds for a check shape";
                note.shape = symbols;
                return add({std::move(note)});
            }
            report_.diagnostics.push_back(std::move(note));
        }
        const bool has_scratch =
            std::any_of(bound->buffers.begin(), bound->buffers.end(),
                        [](const BoundBuffer& b) { return b.role == BoundBuffer::Role::scratch; });
        report_.tune.push_back(
            {symbols, bound->plan, bound->kernels, outcome.kernels, has_scratch, comparable});
        return true;
    }

    struct TuneOutcome {
        Result<JobOutcome, JobFailure> outcome;
        bool whole = false;  // every block of every kernel was run
    };

    // Two blocks of each kernel tell what a block costs; then all blocks are run, or as many as are
    // affordable.
    TuneOutcome run_tune_job(const BoundPlan& bound, PlanBuild& build, Job job) {
        // A launch that runs a part of its blocks may leave __device__ variables as no whole launch would.
        const auto part = [&](std::uint64_t blocks) {
            job.sample_blocks = blocks;
            build.session->reload();
            auto outcome = build.session->run(job);
            build.session->reload();
            return outcome;
        };
        auto probe = part(2);
        if (!probe) return {std::move(probe), false};
        std::uint64_t executed = 0;
        double all = 0;
        bool complete = true;
        for (const KernelRun& run : probe->kernels) {
            executed += run.counters.warp_instructions;
            all += static_cast<double>(run.counters.warp_instructions) *
                   static_cast<double>(run.blocks_total) /
                   static_cast<double>(std::max<std::uint64_t>(1, run.blocks_run));
            complete = complete && run.blocks_run == run.blocks_total;
        }
        complete = complete && probe->kernels.size() == bound.kernels.size();
        if (complete || (bound.kernels.size() == 1 && !probe->clean())) return {std::move(probe), complete};
        // Kernels that depend on each other cannot be verified in part, so they may cost more; a plan that no
        // check shape met is verified here or nowhere.
        const bool met = met_plans_.contains(bound.plan);
        const std::uint64_t affordable = bound.kernels.size() == 1 ? tune_work
                                         : met                     ? 3 * tune_work
                                                                   : 60 * tune_work;
        if (!probe->clean() || all <= static_cast<double>(affordable)) {
            Job whole = job;
            whole.sample_blocks = 0;
            whole.max_warp_instructions = affordable;
            if (!met) whole.max_time = 6 * job.max_time;
            auto outcome = build.session->run(whole);
            if (!outcome || !stopped_by_limit(*outcome)) return {std::move(outcome), true};
        }
        return {part(std::clamp<std::uint64_t>(2 * sample_work / (executed + 1), 2, sample_blocks)), false};
    }

    static bool stopped_by_limit(const JobOutcome& outcome) {
        return std::any_of(outcome.kernels.begin(), outcome.kernels.end(), [](const KernelRun& run) {
            return std::any_of(run.faults.begin(), run.faults.end(),
                               [](const emulator::Fault& f) { return f.rule == "instruction-limit"; });
        });
    }

    // ---- small pieces ----

    // Of the shapes that the page does not list: draws of each, shapes that are checked whatever they cost,
    // and warp instructions that they may take together where three tenths of the listed ones' are fewer.
    static constexpr std::size_t unlisted_draws = 6, unlisted_at_least = 4, shapes_of_a_list = 8;
    static constexpr std::uint64_t unlisted_work = 1'000'000;

    // Of one tune shape: blocks at most when it is sampled, and warp instructions when it is sampled or run
    // whole.
    static constexpr std::uint64_t sample_blocks = 48;
    static constexpr std::uint64_t sample_work = 2'000'000, tune_work = 10'000'000;

    Environment environment_for(int plan) const {
        if (!builds_.empty()) return builds_[static_cast<std::size_t>(plan)].environment;
        return {};
    }

    // The plan that is launched for a shape; none when no guard holds.
    Result<std::optional<int>> plan_for(const SymbolValues& symbols) const {
        return choose_plan(candidate_, task_, symbols, environment_for(0));
    }

    Diagnostic plain(const std::string& rule, Stage stage, std::string message) const {
        Diagnostic d;
        d.rule = rule;
        d.stage = stage;
        d.file = file_;
        d.message = std::move(message);
        return d;
    }

    Diagnostic bad_guard(const Error& error, const SymbolValues& symbols) const {
        Diagnostic d = plain("bad-guard", Stage::plan, error.message);
        d.line = error.line;
        d.shape = symbols;
        return d;
    }

    Diagnostic note_on(const SymbolValues& symbols, const std::string& rule, Stage stage,
                       std::string message) const {
        Diagnostic d = plain(rule, stage, std::move(message));
        d.severity = Severity::note;
        d.shape = symbols;
        return d;
    }

    Json defaults_for(const std::vector<SymbolValues>& shapes) const {
        return shapes.empty() ? Json::object() : default_params(task_, shapes.front());
    }

    std::string mutable_globals(const PlanBuild& build) const {
        std::string names;
        for (const auto& global : build.session->globals()) {
            if (global.space == "global" && global.written)
                names += (names.empty() ? "" : ", ") + global.name;
        }
        return names;
    }

    void report_mutable_state() {
        std::set<std::string> seen;
        for (const PlanBuild& build : builds_) {
            const std::string names = mutable_globals(build);
            if (names.empty() || !seen.insert(names).second) continue;
            Diagnostic d = plain("mutable-device-state", Stage::integrity,
                                 fmt::format("the module has mutable __device__ variables: {}", names));
            d.severity = Severity::note;
            d.hint = "nothing may carry over from one launch sequence to the next";
            report_.diagnostics.push_back(std::move(d));
        }
    }

    // False when one of them is an error.
    bool add(std::vector<Diagnostic> diagnostics) {
        bool clean = true;
        for (Diagnostic& d : diagnostics) {
            clean = clean && d.severity != Severity::error;
            report_.diagnostics.push_back(std::move(d));
        }
        return clean;
    }

    // A job without an outcome; a device that could not be started is not the candidate's fault.
    bool job_failed(const JobFailure& failure, const SymbolValues& symbols, const Case& c) {
        if (failure.kind != JobFailure::Kind::unavailable)
            return decide_failure({diagnostic_of(failure, file_)}, symbols, c);
        report_.environment = Error{failure.message};
        return false;
    }

    bool decide_failure(std::vector<Diagnostic> found, const SymbolValues& symbols, const Case& c) {
        for (Diagnostic& d : found) {
            d.shape = symbols;
            d.case_name = c.name;
            d.seed = c.seed;
        }
        return add(std::move(found));
    }

    // The next reference is computed while the device is busy.
    void prefetch(const SymbolValues& symbols, const std::vector<Case>& cases, std::size_t next,
                  std::size_t count) {
        if (next >= count || next >= cases.size()) return;
        const Case c = cases[next];
        prefetched_ = std::async(std::launch::async, [this, symbols, c] {
            (void)parts_.expectations.get(symbols, c.name, c.seed);
        });
    }

    void write_replay(const Diagnostic* first) {
        std::string line = fmt::format("kernelwright check {} {}", task_.file, file_);
        if (!options_.target.empty()) line += " --target " + options_.target;
        const bool placed = first != nullptr && !first->shape.empty();
        const SymbolValues shape = placed ? first->shape : options_.shape.value_or(SymbolValues{});
        if (!shape.empty()) line += " --shape " + shape_text(shape, ",");
        const std::string name = placed ? first->case_name : options_.case_name.value_or("");
        if (!name.empty()) line += " --case " + name;
        if (!placed) {
            line += fmt::format(" --seed {}", options_.seed);
        } else if (first->seed) {
            line += fmt::format(" --seed {}", *first->seed);
        }
        report_.replay = line;
    }

    const Task& task_;
    const GateParts& parts_;
    const GateOptions& options_;
    std::string source_, file_;
    Candidate candidate_;
    std::vector<PlanBuild> builds_;
    CheckReport report_;
    std::set<int> met_plans_;              // plans that a check shape was verified with
    std::vector<SymbolValues> for_plans_;  // unlisted shapes that alone meet some plan
    std::uint64_t executed_ = 0;           // warp instructions of the counted draws so far
    std::future<void> prefetched_;
};

}  // namespace

CheckReport check(const Task& task, const std::string& source, const std::string& file,
                  const GateParts& parts, const GateOptions& options) {
    return Check(task, source, file, parts, options).run();
}

Json to_json(const CheckReport& report) {
    Json out;
    out["schema"] = "kernelwright.check/1";
    out["task"] = report.task;
    out["candidate"] = report.candidate;
    out["device"] = report.device;
    out["target"] = report.target;
    out["verdict"] = report.pass ? "pass" : "fail";
    out["stage"] = report.stage ? Json(to_string(*report.stage)) : Json(nullptr);
    out["shapes_checked"] = report.shapes_checked;
    out["cases_checked"] = report.cases_checked;
    Json diagnostics = Json::array();
    for (const Diagnostic& d : report.diagnostics) diagnostics.push_back(to_json(d));
    out["diagnostics"] = std::move(diagnostics);
    Json resources = Json::object();
    for (const auto& [kernel, r] : report.resources) {
        resources[kernel] = {{"registers", r.registers},
                             {"static_shared", r.static_shared},
                             {"spill_store_bytes", r.spill_store_bytes},
                             {"spill_load_bytes", r.spill_load_bytes},
                             {"stack_bytes", r.stack_bytes},
                             {"barriers", r.barriers}};
    }
    out["resources"] = std::move(resources);
    out["replay"] = report.replay;
    return out;
}

}  // namespace kernelwright
