#include <dlfcn.h>
#include <fmt/format.h>

#include "harness/authors/factory.h"
#include "harness/cli/commands.h"
#include "harness/cli/doctor_nvrtc.h"
#include "harness/device/worker.h"
#include "harness/sandbox/worker_session.h"

namespace kernelwright::cli {
namespace {

// Is the CUDA driver there? It is opened and closed again; nothing is called.
bool driver_present() {
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) return false;
    ::dlclose(driver);
    return true;
}

void line(const char* mark, const std::string& name, const std::string& text) {
    fmt::print("{} {:<10} {}\n", mark, name, text);
}

}  // namespace

Exit run_doctor(const Global& global, const DoctorCall& call) {
    Json out;
    out["schema"] = "kernelwright.doctor/1";
    const NvrtcFacts nvrtc = nvrtc_facts();
    out["nvrtc"] = nvrtc.json;
    if (!global.json) {
        line(nvrtc.found ? "+" : "-", "compiler", nvrtc.line);
        if (!nvrtc.hint.empty()) line(" ", "", nvrtc.hint);
    }

    const auto bench = make_workbench(call.bench);
    Json devices = Json::array({{{"name", "emulator"}, {"usable", true}}});
    if (!global.json) line("+", "emulator", "the emulated GPU, the default device; it needs no GPU");
    if (bench) {
        Json targets = Json::array();
        std::string names;
        for (const DeviceFacts& facts : bench->targets.all()) {
            targets.push_back({{"name", facts.name}, {"title", facts.title}, {"target", facts.target}});
            names += (names.empty() ? "" : ", ") + facts.name;
        }
        out["targets"] = std::move(targets);
        if (!global.json) line("+", "targets", names);
    }
    const bool driver = driver_present();
    devices.push_back(
        {{"name", "cuda"},
         {"usable", false},
         {"driver", driver},
         {"problem", driver ? "running on a GPU is not built yet" : "no CUDA driver (libcuda.so.1)"}});
    out["devices"] = std::move(devices);
    if (!global.json)
        line("-", "GPU",
             driver ? "a CUDA driver is here; running on it is not built yet"
                    : "no CUDA driver (libcuda.so.1); not needed");

    WorkerStart start;
    start.kind = emulator_worker_kind;
    const auto worker = WorkerSession::start(start);
    Json layers = Json::array();
    if (worker) {
        layers = to_json((*worker)->layers());
        std::string active, missing;
        for (const SandboxLayer& layer : (*worker)->layers()) {
            std::string& into = layer.active ? active : missing;
            into += (into.empty() ? "" : ", ") + layer.name;
        }
        if (!global.json)
            line(missing.empty() ? "+" : "~", "sandbox",
                 active + (missing.empty() ? "" : "; not active: " + missing));
    } else if (!global.json) {
        line("-", "sandbox", worker.error().message);
    }
    out["sandbox"] = std::move(layers);

    Json endpoints = Json::array();
    std::string answering;
    for (const EndpointFacts& facts : endpoint_facts(AuthorConfig{}, true)) {
        const bool answers = facts.probe && facts.probe->accepted;
        if (answers && facts.usable) answering += (answering.empty() ? "" : ", ") + facts.protocol;
        Json variables = Json::object();
        std::string set;
        for (const auto& variable : facts.variables) {
            variables[variable.name] = variable.set;
            if (variable.set) set += (set.empty() ? "" : ", ") + variable.name;
        }
        endpoints.push_back({{"protocol", facts.protocol},
                             {"base_url", facts.base_url},
                             {"model", facts.model},
                             {"usable", facts.usable},
                             {"problem", facts.problem},
                             {"answers", facts.probe ? Json(answers) : Json(nullptr)},
                             {"answer", facts.probe ? Json(facts.probe->message) : Json(nullptr)},
                             {"set", std::move(variables)}});
        if (!global.json) {
            std::string text = facts.base_url;
            for (const std::string& part :
                 {facts.model.empty() ? std::string() : "model " + facts.model,
                  facts.probe ? facts.probe->message : std::string(), facts.problem}) {
                if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
            }
            line(facts.usable && answers ? "+" : "-", facts.protocol, text);
        }
    }
    out["endpoints"] = std::move(endpoints);
    out["can"] = {{"check", nvrtc.found},
                  {"run_recorded", nvrtc.found},
                  {"run_live", nvrtc.found && !answering.empty()}};
    if (global.json) {
        print_json(out);
    } else {
        fmt::print("{}\n", !nvrtc.found ? "nothing can be compiled until NVRTC is there"
                           : answering.empty()
                               ? "check, profile and recorded runs work; a live run needs an endpoint that "
                                 "answers and a model "
                                 "(docs/endpoints.md)"
                               : "check, profile, recorded and live runs (--author " + answering + ") work");
    }
    return nvrtc.found ? Exit::good : Exit::missing;
}

}  // namespace kernelwright::cli
