#include "harness/compile/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <span>

#include "harness/compile/cubin.h"
#include "harness/compile/nvrtc_api.h"
#include "harness/compile/nvrtc_log.h"
#include "harness/compile/ptx_lines.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr std::size_t source_limit = std::size_t{4} << 20;  // bytes of a candidate's source
constexpr std::size_t kept_log = std::size_t{64} << 10;
constexpr std::size_t kept_findings = 20;
constexpr std::size_t kept_message = 600, kept_note = 200, kept_related = 8;
// Statically allocated shared memory, on every architecture (CUDA C++ Programming Guide, "Shared Memory");
// more must be dynamic.
constexpr std::uint32_t static_shared_limit = 49152;

Diagnostic finding(const CompileRequest& request, std::string rule, std::string message,
                   std::string hint = "") {
    Diagnostic d;
    d.rule = std::move(rule);
    d.stage = Stage::compile;
    d.file = request.file;
    d.message = std::move(message);
    d.hint = std::move(hint);
    return d;
}

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_identifier(const std::string& text) {
    return !text.empty() && text.size() < 256 && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::all_of(text.begin(), text.end(), is_word_character);
}

// "sm_80", "sm_90a", "sm_120f".
bool is_target(std::string_view text) {
    if (text.substr(0, 3) != "sm_") return false;
    text.remove_prefix(3);
    if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) text.remove_suffix(1);
    return (text.size() == 2 || text.size() == 3) && text[0] != '0' &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "--maxrregcount=N", N from 16 to 255.
bool is_register_limit(std::string_view option) {
    constexpr std::string_view name = "-maxrregcount=";
    if (option.substr(0, 2) == "--") option.remove_prefix(1);
    if (option.substr(0, name.size()) != name) return false;
    option.remove_prefix(name.size());
    int count = 0;
    const auto [end, failed] = std::from_chars(option.data(), option.data() + option.size(), count);
    return failed == std::errc() && end == option.data() + option.size() && count >= 16 && count <= 255;
}

std::string shorten(std::string text, std::size_t limit) {
    if (text.size() <= limit) return text;
    text.resize(limit);
    return text + " ...";
}

// Rewrites log entries as diagnostics about the request's file.
class Findings {
  public:
    Findings(const CompileRequest& request, const NvrtcLocation& nvrtc, const CompileAnswer& answer)
        : request_(request), nvrtc_(nvrtc), name_(program_name(request.file)), lines_(answer.ptx, name_) {}

    Diagnostic from(const LogEntry& entry) const {
        Diagnostic d = finding(request_, "compile-error", shorten(entry.message, kept_message));
        d.severity = entry.severity;
        if (entry.severity != Severity::error) {
            d.rule = entry.number > 0 ? fmt::format("compiler-warning-{}", entry.number) : "compiler-warning";
        }
        if (entry.from_ptxas) {
            place_ptxas(entry, d);
        } else {
            place_front_end(entry, d);
        }
        if (d.hint.empty()) d.hint = hint_for(d.message);
        return d;
    }

    bool is_source(const std::string& file) const { return file == name_; }

    // A file that is neither the candidate nor the toolkit's nor a stub. Its content must not leave.
    bool is_foreign(const std::string& file) const {
        if (file.empty() || is_source(file) || file[0] != '/') return false;
        const std::string path = std::filesystem::path(file).lexically_normal().string();
        return std::none_of(
            nvrtc_.include_folders.begin(), nvrtc_.include_folders.end(),
            [&](const std::filesystem::path& folder) { return path.rfind(folder.string() + "/", 0) == 0; });
    }

    int line_of_kernel(const std::string& symbol) const {
        const SourcePlace place = lines_.place_of_function(symbol);
        return is_source(base_name(place.file)) ? place.line : 0;
    }

    const PtxLines& lines() const { return lines_; }

  private:
    static std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

    // The candidate under its own name, the toolkit's headers as they are included.
    std::string shown(const std::string& file) const {
        if (is_source(file) || is_source(base_name(file))) return request_.file;
        for (const auto& folder : nvrtc_.include_folders) {
            const std::string prefix = folder.string() + "/";
            if (file.rfind(prefix, 0) == 0) return file.substr(prefix.size());
        }
        return file;
    }

    void place_front_end(const LogEntry& entry, Diagnostic& d) const {
        if (entry.file == "__nv_name_map") {
            d.rule = "name-expression";
            d.hint =
                "the plan's kernel name must be a C++ name of a __global__ function that the file defines";
            return;
        }
        if (is_foreign(entry.file)) {
            d.rule = "host-include";
            d.message = fmt::format("`{}` is not one of the toolkit's headers", entry.file);
            d.hint = "files of the host are out of reach";
            return;
        }
        d.file = shown(entry.file);
        d.line = entry.line;
        d.column = entry.column;
        if (const std::string header = unopened_header(entry.message); !header.empty()) {
            // Why it could not be opened is the host's business.
            d.rule = "missing-header";
            d.message = fmt::format("cannot open source file \"{}\"", header);
        }
        for (const Related& related : entry.related) {
            if (is_foreign(related.file)) continue;
            Related copy = related;
            copy.file = is_source(related.file) ? "" : shown(related.file);
            copy.note = shorten(copy.note, kept_note);
            d.related.push_back(std::move(copy));
        }
        move_into_source(entry, d);
        blame_host_library(d);
        if (d.related.size() > kept_related) d.related.resize(kept_related);
    }

    // What is met inside a header is the doing of the candidate's line that led there, where one is named.
    void move_into_source(const LogEntry& entry, Diagnostic& d) const {
        if (is_source(entry.file)) return;
        const auto own = std::find_if(d.related.begin(), d.related.end(), [](const Related& related) {
            return related.file.empty() && related.line > 0;
        });
        const Related met{d.file, d.line, fmt::format("where the compiler met it, in {}", d.file)};
        d.file = request_.file;
        d.line = own == d.related.end() ? line_of_include(met.file) : own->line;
        d.column = 0;
        d.related.insert(d.related.begin(), met);
    }

    // CUB as a whole, its device-wide algorithms and Thrust launch kernels from the host. What the compiler
    // makes of their insides helps nobody: one diagnostic at the line that includes them says what to do.
    void blame_host_library(Diagnostic& d) const {
        if (d.related.empty() || d.severity != Severity::error) return;
        const std::string& met = d.related.front().file;
        if (met.find("cub/") == std::string::npos && met.find("thrust/") == std::string::npos) return;
        int number = 0;
        for (const std::string& line : split(request_.source, '\n')) {
            ++number;
            const std::string_view text = trim(line);
            if (text.substr(0, 1) != "#" || (d.line != number && d.line != 0)) continue;
            const std::size_t open = text.find('<'), close = text.find('>');
            if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
            const std::string_view header = text.substr(open + 1, close - open - 1);
            const bool cub = header == "cub/cub.cuh" || header.starts_with("cub/device/");
            if (!cub && !header.starts_with("thrust/")) continue;
            d.rule = "host-include";
            d.line = number;
            d.message =
                fmt::format("<{}> launches kernels from the host, which a candidate does not have", header);
            d.hint = cub ? "include the parts that run inside a kernel: <cub/block/block_reduce.cuh>, "
                           "<cub/warp/warp_reduce.cuh> and their siblings"
                         : "only the CUDA toolkit's own device headers can be included";
            return;
        }
    }

    // The candidate's line that includes the header by its name, or its only #include; 0: neither.
    int line_of_include(const std::string& header) const {
        int number = 0, includes = 0, last = 0;
        for (const std::string& line : split(request_.source, '\n')) {
            ++number;
            const std::string_view text = trim(line);
            if (text.substr(0, 1) != "#" || text.find("include") == std::string_view::npos) continue;
            if (text.find(header) != std::string_view::npos) return number;
            last = number;
            ++includes;
        }
        return includes == 1 ? last : 0;
    }

    // X of `cannot open source file "X"...`, as the releases word it; "" for other messages.
    static std::string unopened_header(const std::string& message) {
        for (const char* words : {"cannot open source file \"", "could not open source file \""}) {
            if (message.rfind(words, 0) != 0) continue;
            const std::size_t start = std::strlen(words);
            return shorten(message.substr(start, message.find('"', start) - start), 200);
        }
        return "";
    }

    void place_ptxas(const LogEntry& entry, Diagnostic& d) const {
        if (entry.severity == Severity::error) d.rule = "ptxas-error";
        constexpr const char* unresolved = "Unresolved extern function '";
        if (const std::size_t at = entry.message.find(unresolved); at != std::string::npos) {
            const std::string rest = entry.message.substr(at + std::strlen(unresolved));
            const std::string symbol = rest.substr(0, rest.find('\''));
            d.rule = "unresolved-extern";
            d.message = fmt::format("`{}` is declared and called, but defined nowhere", symbol);
            d.hint = "a candidate is one file; define the function in it";
            if (!symbol.empty()) set_place(lines_.first_call_of(symbol), d);
            return;
        }
        if (entry.ptx_line == 0) return;
        // A syntax error is met at the next token: on a directive, it belongs to the instruction before.
        int line = entry.ptx_line;
        std::string text = lines_.text_of(line);
        while (line > 1 && (text.empty() || text[0] == '.' || text[0] == '/')) text = lines_.text_of(--line);
        set_place(line, d);
        if (!text.empty()) d.message += fmt::format(", in `{}`", shorten(text, 160));
    }

    void set_place(int ptx_line, Diagnostic& d) const {
        if (ptx_line == 0) return;
        const SourcePlace place = lines_.place_of(ptx_line);
        d.kernel = lines_.function_at(ptx_line);
        if (place.line == 0) return;
        d.file = shown(place.file);
        d.line = place.line;
        d.column = place.column;
    }

    const CompileRequest& request_;
    const NvrtcLocation& nvrtc_;
    std::string name_;
    PtxLines lines_;
};

// Adds a diagnostic unless the same was said already.
void add_new(std::vector<Diagnostic>& list, Diagnostic d) {
    const bool known = std::any_of(list.begin(), list.end(), [&](const Diagnostic& other) {
        return other.line == d.line && other.column == d.column && other.file == d.file &&
               other.message == d.message;
    });
    if (!known) list.push_back(std::move(d));
}

Diagnostic unknown_target(const CompileRequest& request, const CompileAnswer& answer) {
    std::vector<std::string> known;
    for (const int number : answer.architectures) known.push_back(fmt::format("sm_{}", number));
    return finding(
        request, "unknown-target",
        fmt::format("the compiler does not know the target `{}`{}", request.target,
                    did_you_mean(request.target, known)),
        fmt::format("it knows {}, and from sm_90 on the architecture-specific names with a or f at the end",
                    fmt::join(known, " ")));
}

std::vector<Diagnostic> errors_of(const CompileRequest& request, const CompileAnswer& answer,
                                  const Findings& findings) {
    if (answer.status == NvrtcApi::out_of_memory) {
        Diagnostic d = finding(request, "compile-memory-limit", "the compiler ran out of memory");
        d.stage = Stage::limits;
        return {d};
    }
    if (answer.status == NvrtcApi::invalid_option ||
        answer.log.find("invalid value for --gpu-architecture") == 0 ||
        answer.log.find("--nv_arch flag") != std::string::npos) {
        return {unknown_target(request, answer)};
    }
    std::vector<Diagnostic> out;
    std::size_t left_out = 0;
    for (const LogEntry& entry : parse_nvrtc_log(answer.log)) {
        if (entry.severity != Severity::error ||
            entry.message.find("Ptx assembly aborted") != std::string::npos)
            continue;
        if (out.size() < kept_findings) {
            add_new(out, findings.from(entry));
        } else {
            ++left_out;
        }
    }
    for (const auto& [symbol, facts] : parse_ptxas_facts(answer.log)) {
        if (facts.static_shared <= static_shared_limit) continue;
        Diagnostic d = finding(
            request, "static-shared-too-large",
            fmt::format("`{}` has {} bytes of static shared memory, more than the {} that a kernel may have",
                        symbol, facts.static_shared, static_shared_limit),
            "declare it `extern __shared__` and give its size as `shared` in the plan");
        d.kernel = symbol;
        d.line = findings.line_of_kernel(symbol);
        add_new(out, std::move(d));
    }
    if (left_out > 0) out.back().message += fmt::format(" ({} more errors follow)", left_out);
    if (out.empty()) {
        const std::string_view first = trim(std::string_view(answer.log).substr(0, answer.log.find('\n')));
        out.push_back(finding(
            request, "compile-error",
            fmt::format("NVRTC failed: {}",
                        shorten(first.empty() ? answer.status_text : std::string(first), kept_message))));
    }
    return out;
}

// Does the source include a header whose objects live in shared memory and are set up by `init` or by a
// placement new?
bool uses_shared_objects(const std::string& source) {
    constexpr std::string_view headers[] = {"<cuda/barrier>", "<cuda/pipeline>", "<cuda/atomic>",
                                            "<cuda/semaphore>", "<cuda/latch>"};
    return std::any_of(std::begin(headers), std::end(headers),
                       [&](std::string_view header) { return source.find(header) != std::string::npos; });
}

void add_warnings(const CompileRequest& request, const CompileAnswer& answer, const Findings& findings,
                  Build& build) {
    // A shared variable of a class with a constructor. That is how the toolkit's own are declared, whose
    // documentation has one thread set them up.
    constexpr int dynamic_initialisation = 20054;
    const bool documented = uses_shared_objects(request.source);
    for (const LogEntry& entry : parse_nvrtc_log(answer.log)) {
        if (entry.severity == Severity::error || build.warnings.size() >= kept_findings) continue;
        if (documented && entry.number == dynamic_initialisation) continue;
        if (entry.from_ptxas || findings.is_source(entry.file)) add_new(build.warnings, findings.from(entry));
    }
    // The arguments of a printf travel through local memory; that is no array of the candidate's.
    const bool prints = build.ptx.find("vprintf") != std::string::npos;
    for (const auto& [symbol, facts] : build.kernels) {
        if (prints && facts.spill_store_bytes == 0 && facts.spill_load_bytes == 0) continue;
        if (facts.stack_bytes == 0 && facts.spill_store_bytes == 0 && facts.spill_load_bytes == 0) continue;
        Diagnostic d = finding(request, "register-spill", "");
        d.severity = Severity::warning;
        if (facts.spill_store_bytes + facts.spill_load_bytes > 0) {
            d.message = fmt::format("registers are spilled to local memory: {} bytes stored, {} bytes loaded",
                                    facts.spill_store_bytes, facts.spill_load_bytes);
            d.hint = "smaller tiles per thread, less unrolling, or __launch_bounds__ with fewer threads";
        } else {
            d.rule = "local-memory";
            d.message = fmt::format("each thread uses {} bytes of local memory", facts.stack_bytes);
            d.hint = "an array that is indexed by a value not known when compiling cannot live in registers";
        }
        d.kernel = symbol;
        d.line = findings.line_of_kernel(symbol);
        build.warnings.push_back(std::move(d));
    }
}

// The log as it may be shown: without the lines of files that are not the candidate's business.
std::string shown_log(const std::string& log, const Findings& findings) {
    std::string out;
    bool hide = false;
    for (const std::string& line : split(log, '\n')) {
        if (!line.empty() && line[0] != ' ' && line[0] != '\t') {
            const std::size_t open = line.find('(');
            hide = open != std::string::npos && findings.is_foreign(line.substr(0, open));
            if (hide) out += line.substr(0, open) + ": not one of the toolkit's headers\n";
        }
        if (hide) continue;
        out += line + "\n";
        if (out.size() > kept_log) {
            out.resize(kept_log);
            return out + "\n... the rest of the log is left out ...\n";
        }
    }
    return out;
}

}  // namespace

std::string program_name(const std::string& file) {
    const std::string name = file.substr(file.rfind('/') + 1);
    const bool plain = !name.empty() && name.size() <= 128 && is_word_character(name[0]) &&
                       std::all_of(name.begin(), name.end(), [](char c) {
                           return is_word_character(c) || c == '.' || c == '+' || c == '-';
                       });
    return plain ? name : "candidate.cu";
}

std::vector<Diagnostic> check_request(const CompileRequest& request) {
    std::vector<Diagnostic> out;
    if (!is_target(request.target)) {
        out.push_back(finding(request, "unknown-target",
                              fmt::format("`{}` is not a target", shorten(request.target, 40)),
                              "a target is sm_ and a number, such as sm_80 or sm_90a"));
    }
    for (const std::string& option : request.options) {
        if (option == "--use_fast_math" || option == "-use_fast_math" || option == "--fmad=false" ||
            option == "-fmad=false" || option == "--fmad=true") {
            continue;
        }
        if (is_register_limit(option)) continue;
        out.push_back(finding(request, "bad-option",
                              fmt::format("the option `{}` is not allowed", shorten(option, 80)),
                              "allowed are --use_fast_math, --maxrregcount=N (16 to 255) and --fmad=false"));
    }
    for (const auto& [name, value] : request.defines) {
        const bool printable = std::all_of(value.begin(), value.end(),
                                           [](char c) { return static_cast<unsigned char>(c) >= ' '; });
        if (!is_identifier(name) || !printable || value.size() > 4096) {
            out.push_back(finding(request, "bad-define",
                                  fmt::format("`{}` cannot be defined like this", shorten(name, 80)),
                                  "a define is an identifier with a value of one line"));
        }
    }
    if (request.source.size() > source_limit) {
        Diagnostic d = finding(request, "source-too-large",
                               fmt::format("the source is {} bytes, more than the {} that are compiled",
                                           request.source.size(), source_limit));
        d.stage = Stage::limits;
        out.push_back(std::move(d));
    } else if (const std::size_t zero = request.source.find('\0'); zero != std::string::npos) {
        Diagnostic d = finding(request, "binary-source", "the source holds a zero byte: it is not text");
        d.line = line_of(request.source, zero);
        out.push_back(std::move(d));
    }
    for (const std::string& name : request.name_expressions) {
        if (name.empty() || name.size() > 1024 ||
            name.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos) {
            out.push_back(finding(request, "name-expression",
                                  "a kernel's name is empty, longer than 1024 bytes or not one line"));
        }
    }
    return out;
}

std::vector<std::string> nvrtc_arguments(const CompileRequest& request, const NvrtcLocation& nvrtc,
                                         bool machine_code) {
    std::vector<std::string> out{"-std=c++17", "-lineinfo", "-default-device"};
    if (machine_code) {
        out.push_back("-arch=" + request.target);
        out.push_back("--ptxas-options=-v");
    } else {
        out.push_back("-arch=compute_" + request.target.substr(3));
    }
    for (const auto& folder : nvrtc.include_folders) out.push_back("-I" + folder.string());
    out.insert(out.end(), request.options.begin(), request.options.end());
    for (const auto& [name, value] : request.defines) out.push_back(fmt::format("-D{}={}", name, value));
    return out;
}

CompileOutcome interpret(const CompileRequest& request, const NvrtcLocation& nvrtc, CompileAnswer answer) {
    CompileOutcome outcome;
    const Findings findings(request, nvrtc, answer);
    if (answer.status == NvrtcApi::success && !answer.too_large.empty()) {
        Diagnostic d = finding(request, "compile-output-limit",
                               fmt::format("the compiled {} is larger than 64 MiB", answer.too_large),
                               "large tables do not belong into the source");
        d.stage = Stage::limits;
        outcome.diagnostics.push_back(std::move(d));
        return outcome;
    }
    if (answer.status != NvrtcApi::success) {
        outcome.diagnostics = errors_of(request, answer, findings);
        return outcome;
    }
    Build build;
    build.target = request.target;
    build.ptx = strip_working_directory(std::move(answer.ptx), program_name(request.file));
    const auto bytes = std::as_bytes(std::span(answer.cubin));
    build.cubin.assign(bytes.begin(), bytes.end());
    build.lowered_names = std::move(answer.lowered_names);
    build.nvrtc_version = nvrtc.version.str();
    build.log = shown_log(answer.log, findings);
    const auto facts = parse_ptxas_facts(answer.log);
    const auto sizes = code_sizes(build.cubin);
    for (const std::string& symbol : findings.lines().entries()) {
        KernelResources& resources = build.kernels[symbol];
        if (const auto found = facts.find(symbol); found != facts.end()) resources = found->second;
        if (const auto found = sizes.find(symbol); found != sizes.end()) resources.code_bytes = found->second;
    }
    for (const std::string& name : request.name_expressions) {
        if (build.lowered_names.count(name) == 0) {
            outcome.diagnostics.push_back(
                finding(request, "name-expression", fmt::format("`{}` names no kernel of the file", name)));
        }
    }
    if (!outcome.diagnostics.empty()) return outcome;
    add_warnings(request, answer, findings, build);
    outcome.build = std::move(build);
    return outcome;
}

CompileOutcome interpret(const CompileRequest& request, const WorkerFailure& failure) {
    CompileOutcome outcome;
    using Kind = WorkerFailure::Kind;
    switch (failure.kind) {
        case Kind::setup:
            outcome.environment = Error{failure.message};
            return outcome;
        case Kind::timeout: {
            Diagnostic d = finding(
                request, "compile-time-limit",
                fmt::format("compiling took longer than {} ms", request.time_limit.count()),
                "deep template recursion, heavy unrolling and long constexpr loops cost compile time");
            d.stage = Stage::limits;
            outcome.diagnostics.push_back(std::move(d));
            return outcome;
        }
        case Kind::memory: {
            Diagnostic d =
                finding(request, "compile-memory-limit",
                        fmt::format("compiling took more than {} MiB of memory", request.memory_limit >> 20),
                        "large tables, heavy unrolling and template recursion cost memory");
            d.stage = Stage::limits;
            outcome.diagnostics.push_back(std::move(d));
            return outcome;
        }
        case Kind::crashed:
        case Kind::killed:
        case Kind::protocol:
            break;
    }
    outcome.diagnostics.push_back(finding(request, "compiler-crash",
                                          fmt::format("the compiler gave up: {}", failure.message),
                                          "NVRTC itself fails on this source; write it in a simpler way"));
    return outcome;
}

}  // namespace kernelwright
