#include "harness/compile/compile_worker.h"

#include <fmt/format.h>

#include "harness/compile/nvrtc_api.h"
#include "harness/compile/stub_headers.h"

namespace kernelwright {
namespace {

constexpr std::size_t log_limit = 1 << 20;       // bytes of NVRTC's log that are kept, half of each end
constexpr std::size_t result_limit = 64U << 20;  // bytes of PTX or machine code

std::string shorten_log(std::string log) {
    if (log.size() <= log_limit) return log;
    const std::size_t half = log_limit / 2;
    return log.substr(0, half) + fmt::format("\n... {} bytes left out ...\n", log.size() - log_limit) +
           log.substr(log.size() - half);
}

// One NVRTC program, destroyed with its owner.
class Program {
  public:
    Program(const NvrtcApi& api, const CompileJob& job) : api_(api) {
        std::vector<const char*> names, texts;
        for (const StubHeader& header : stub_headers()) {
            names.push_back(header.name);
            texts.push_back(header.text);
        }
        created_ = api_.create_program(&program_, job.source.c_str(), job.name.c_str(),
                                       static_cast<int>(names.size()), texts.data(), names.data());
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() {
        if (created_ == NvrtcApi::success) api_.destroy_program(&program_);
    }

    int created() const { return created_; }
    int compile(const std::vector<std::string>& arguments, const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            if (const int failed = api_.add_name_expression(program_, name.c_str()); failed != 0)
                return failed;
        }
        const std::string prelude = fmt::format("--pre-include={}", prelude_header);
        std::vector<const char*> options{prelude.c_str()};
        for (const std::string& argument : arguments) options.push_back(argument.c_str());
        return api_.compile_program(program_, static_cast<int>(options.size()), options.data());
    }
    std::string log() { return text(api_.log_size, api_.log, 256U << 20, nullptr); }
    // Fills `too_large` when the result is larger than is carried.
    std::string ptx(std::string& too_large) {
        bool large = false;
        std::string out = text(api_.ptx_size, api_.ptx, result_limit, &large);
        if (large) too_large = "PTX";
        return out;
    }
    std::string cubin(std::string& too_large) {
        std::size_t size = 0;
        if (api_.cubin_size(program_, &size) != 0) return "";
        if (size > result_limit) {
            too_large = "machine code";
            return "";
        }
        std::string out(size, '\0');
        return api_.cubin(program_, out.data()) == 0 ? out : "";
    }
    std::string lowered(const std::string& name) {
        const char* symbol = nullptr;
        if (api_.lowered_name(program_, name.c_str(), &symbol) != 0 || symbol == nullptr) return "";
        return symbol;
    }

  private:
    // NVRTC's texts come with a closing zero, which is dropped.
    std::string text(int (*size_of)(NvrtcProgram*, std::size_t*), int (*copy)(NvrtcProgram*, char*),
                     std::size_t limit, bool* too_large) {
        std::size_t size = 0;
        if (size_of(program_, &size) != 0 || size <= 1) return "";
        if (size > limit) {
            if (too_large != nullptr) *too_large = true;
            return "";
        }
        std::string out(size, '\0');
        if (copy(program_, out.data()) != 0) return "";
        out.resize(size - 1);
        return out;
    }

    const NvrtcApi& api_;
    NvrtcProgram* program_ = nullptr;
    int created_ = 0;
};

class CompileHandler final : public WorkerHandler {
  public:
    Status prepare(const Json& configuration) override {
        const auto library = configuration.find("library");
        if (library == configuration.end() || !library->is_string()) return Error{"no library is named"};
        auto api =
            NvrtcApi::load(library->get<std::string>(), configuration.value("builtins", std::string()));
        if (!api) return api.error();
        api_ = *api;
        return Done{};
    }

    Message handle(Message message) override {
        auto job = compile_job_from(std::move(message));
        CompileAnswer answer;
        if (!job) {
            answer.status = -1;
            answer.status_text = job.error().message;
            return to_message(answer);
        }
        int count = 0;
        if (api_.architecture_count(&count) == 0 && count > 0 && count < 1000) {
            answer.architectures.resize(static_cast<std::size_t>(count));
            api_.architectures(answer.architectures.data());
        }
        compile(*job, answer);
        answer.status_text = api_.error_string(answer.status);
        return to_message(answer);
    }

  private:
    void compile(const CompileJob& job, CompileAnswer& answer) {
        Program program(api_, job);
        answer.status = program.created();
        if (answer.status != NvrtcApi::success) return;
        answer.status = program.compile(job.arguments, job.name_expressions);
        answer.log = shorten_log(program.log());
        if (answer.status == NvrtcApi::success) {
            answer.ptx = program.ptx(answer.too_large);
            if (answer.too_large.empty()) answer.cubin = program.cubin(answer.too_large);
            for (const std::string& name : job.name_expressions) {
                const std::string symbol = program.lowered(name);
                if (!symbol.empty()) answer.lowered_names[name] = symbol;
            }
        } else if (answer.log.find("\nptxas ") != std::string::npos || answer.log.rfind("ptxas ", 0) == 0) {
            Program again(api_, job);
            if (again.created() == NvrtcApi::success &&
                again.compile(job.ptx_arguments, job.name_expressions) == NvrtcApi::success) {
                std::string ignored;
                answer.ptx = again.ptx(ignored);
            }
        }
    }

    NvrtcApi api_;
};

}  // namespace

void add_compile_worker(WorkerTable& table) {
    table[compile_worker_kind] = [] { return std::make_unique<CompileHandler>(); };
}

Message to_message(const CompileJob& job) {
    return {Json{{"name", job.name},
                 {"arguments", job.arguments},
                 {"ptx_arguments", job.ptx_arguments},
                 {"name_expressions", job.name_expressions}},
            {job.source}};
}

Result<CompileJob> compile_job_from(Message message) {
    try {
        CompileJob job;
        job.name = message.header.at("name").get<std::string>();
        job.arguments = message.header.at("arguments").get<std::vector<std::string>>();
        job.ptx_arguments = message.header.at("ptx_arguments").get<std::vector<std::string>>();
        job.name_expressions = message.header.at("name_expressions").get<std::vector<std::string>>();
        if (message.blobs.size() != 1) return Error{"a compile job without its source"};
        job.source = std::move(message.blobs[0]);
        return job;
    } catch (const Json::exception& e) {
        return Error{fmt::format("a compile job is malformed: {}", e.what())};
    }
}

Message to_message(const CompileAnswer& answer) {
    Json lowered = Json::object();
    for (const auto& [name, symbol] : answer.lowered_names) lowered[name] = symbol;
    return {Json{{"status", answer.status},
                 {"status_text", answer.status_text},
                 {"lowered_names", std::move(lowered)},
                 {"architectures", answer.architectures},
                 {"too_large", answer.too_large}},
            {answer.log, answer.ptx, answer.cubin}};
}

Result<CompileAnswer> compile_answer_from(Message message) {
    try {
        CompileAnswer answer;
        answer.status = message.header.at("status").get<int>();
        answer.status_text = message.header.at("status_text").get<std::string>();
        for (const auto& [name, symbol] : message.header.at("lowered_names").items()) {
            answer.lowered_names[name] = symbol.get<std::string>();
        }
        answer.architectures = message.header.at("architectures").get<std::vector<int>>();
        answer.too_large = message.header.at("too_large").get<std::string>();
        if (message.blobs.size() != 3) return Error{"a compile answer without its parts"};
        answer.log = std::move(message.blobs[0]);
        answer.ptx = std::move(message.blobs[1]);
        answer.cubin = std::move(message.blobs[2]);
        return answer;
    } catch (const Json::exception& e) {
        return Error{fmt::format("a compile answer is malformed: {}", e.what())};
    }
}

}  // namespace kernelwright
