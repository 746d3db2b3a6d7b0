#include "harness/device/wire.h"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <utility>

namespace kernelwright::wire {
namespace {

using emulator::Counters;
using emulator::Dim3;
using emulator::Fault;
using emulator::LineCounters;
using emulator::Place;

std::string bytes_to_blob(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> blob_to_bytes(const std::string& blob) {
    std::vector<std::byte> bytes(blob.size());
    if (!blob.empty()) std::memcpy(bytes.data(), blob.data(), blob.size());
    return bytes;
}

std::string bits_to_blob(const std::vector<bool>& flags) {
    std::string blob((flags.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < flags.size(); ++i) {
        if (flags[i])
            blob[i / 8] = static_cast<char>(static_cast<unsigned char>(blob[i / 8]) | (1U << (i % 8)));
    }
    return blob;
}

std::vector<bool> blob_to_bits(const std::string& blob, std::size_t count) {
    std::vector<bool> flags(count);
    for (std::size_t i = 0; i < count && i / 8 < blob.size(); ++i) {
        flags[i] = ((static_cast<unsigned char>(blob[i / 8]) >> (i % 8)) & 1U) != 0;
    }
    return flags;
}

Json dim(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }
Dim3 dim_from(const Json& json) {
    return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
            json.at(2).get<std::uint32_t>()};
}
Json maybe_dim(const std::optional<Dim3>& d) { return d ? dim(*d) : Json(nullptr); }
std::optional<Dim3> maybe_dim_from(const Json& json) {
    if (json.is_null()) return std::nullopt;
    return dim_from(json);
}

Json place(const Place& p) {
    Json calls = Json::array();
    for (const Place::Call& c : p.inlined_at) calls.push_back({c.file, c.line, c.column});
    return {p.file, p.line, p.column, p.ptx_line, p.instruction, std::move(calls)};
}
Place place_from(const Json& j) {
    Place p{j.at(0).get<std::string>(), j.at(1).get<int>(), j.at(2).get<int>(), j.at(3).get<int>(),
            j.at(4).get<std::string>()};
    for (const Json& c : j.at(5))
        p.inlined_at.push_back({c.at(0).get<std::string>(), c.at(1).get<int>(), c.at(2).get<int>()});
    return p;
}

Json fault_to(const Fault& f) {
    Json j;
    j["rule"] = f.rule;
    j["kernel"] = f.kernel;
    j["place"] = place(f.place);
    if (f.other) {
        j["other"] = {{"place", place(f.other->place)},
                      {"note", f.other->note},
                      {"block", maybe_dim(f.other->block)},
                      {"thread", maybe_dim(f.other->thread)}};
    }
    j["message"] = f.message;
    j["block"] = maybe_dim(f.block);
    j["thread"] = maybe_dim(f.thread);
    j["occurrences"] = f.occurrences;
    return j;
}

Fault fault_from(const Json& j) {
    Fault f;
    f.rule = j.at("rule").get<std::string>();
    f.kernel = j.at("kernel").get<std::string>();
    f.place = place_from(j.at("place"));
    if (const auto it = j.find("other"); it != j.end()) {
        f.other = Fault::Party{place_from(it->at("place")), it->at("note").get<std::string>(),
                               maybe_dim_from(it->at("block")), maybe_dim_from(it->at("thread"))};
    }
    f.message = j.at("message").get<std::string>();
    f.block = maybe_dim_from(j.at("block"));
    f.thread = maybe_dim_from(j.at("thread"));
    f.occurrences = j.at("occurrences").get<std::uint64_t>();
    return f;
}

// Both directions of the counters go over this one list, so that no field can be written and not read.
template <class Object, class Visit>
void visit_counters(Object& c, const Visit& visit) {
    visit("warp_instructions", c.warp_instructions);
    visit("thread_instructions", c.thread_instructions);
    visit("thread_instructions_pred_on", c.thread_instructions_pred_on);
    visit("warps_launched", c.warps_launched);
    visit("blocks_launched", c.blocks_launched);
    visit("inst_fma", c.inst_fma);
    visit("inst_alu", c.inst_alu);
    visit("inst_xu", c.inst_xu);
    visit("inst_fp64", c.inst_fp64);
    visit("inst_fp16", c.inst_fp16);
    visit("inst_tensor", c.inst_tensor);
    visit("inst_lsu", c.inst_lsu);
    visit("inst_control", c.inst_control);
    visit("inst_uniform", c.inst_uniform);
    visit("thread_fadd", c.thread_fadd);
    visit("thread_fmul", c.thread_fmul);
    visit("thread_ffma", c.thread_ffma);
    visit("thread_dadd", c.thread_dadd);
    visit("thread_dmul", c.thread_dmul);
    visit("thread_dfma", c.thread_dfma);
    visit("thread_hadd", c.thread_hadd);
    visit("thread_hmul", c.thread_hmul);
    visit("thread_hfma", c.thread_hfma);
    visit("tensor_flops", c.tensor_flops);
    visit("tensor_fp16_fp16", c.tensor_fp16_fp16);
    visit("tensor_fp16_fp32", c.tensor_fp16_fp32);
    visit("tensor_bf16_fp32", c.tensor_bf16_fp32);
    visit("tensor_tf32_fp32", c.tensor_tf32_fp32);
    visit("tensor_fp8_fp16", c.tensor_fp8_fp16);
    visit("tensor_fp8_fp32", c.tensor_fp8_fp32);
    visit("tensor_fp64", c.tensor_fp64);
    visit("tensor_int8", c.tensor_int8);
    visit("tensor_int4", c.tensor_int4);
    visit("tensor_int1", c.tensor_int1);
    visit("wgmma_shared_bytes", c.wgmma_shared_bytes);
    visit("thread_integer", c.thread_integer);
    visit("branches", c.branches);
    visit("divergent_branches", c.divergent_branches);
    visit("global_load_requests", c.global_load_requests);
    visit("global_load_sectors", c.global_load_sectors);
    visit("global_load_bytes", c.global_load_bytes);
    visit("global_store_requests", c.global_store_requests);
    visit("global_store_sectors", c.global_store_sectors);
    visit("global_store_bytes", c.global_store_bytes);
    visit("global_atomic_requests", c.global_atomic_requests);
    visit("global_atomic_sectors", c.global_atomic_sectors);
    visit("global_atomic_operations", c.global_atomic_operations);
    visit("hottest_atomic_operations", c.hottest_atomic_operations);
    visit("hottest_atomic_blocks", c.hottest_atomic_blocks);
    visit("ideal_global_load_sectors", c.ideal_global_load_sectors);
    visit("ideal_global_store_sectors", c.ideal_global_store_sectors);
    visit("unique_load_sectors", c.unique_load_sectors);
    visit("unique_store_sectors", c.unique_store_sectors);
    visit("local_load_requests", c.local_load_requests);
    visit("local_load_sectors", c.local_load_sectors);
    visit("local_store_requests", c.local_store_requests);
    visit("local_store_sectors", c.local_store_sectors);
    visit("constant_requests", c.constant_requests);
    visit("shared_load_requests", c.shared_load_requests);
    visit("shared_load_wavefronts", c.shared_load_wavefronts);
    visit("shared_load_conflicts", c.shared_load_conflicts);
    visit("shared_store_requests", c.shared_store_requests);
    visit("shared_store_wavefronts", c.shared_store_wavefronts);
    visit("shared_store_conflicts", c.shared_store_conflicts);
    visit("shared_atomic_requests", c.shared_atomic_requests);
    visit("shared_atomic_wavefronts", c.shared_atomic_wavefronts);
    visit("shared_bytes", c.shared_bytes);
    visit("barriers", c.barriers);
    visit("shuffles", c.shuffles);
    visit("votes", c.votes);
    visit("cp_async_requests", c.cp_async_requests);
    visit("cp_async_bytes", c.cp_async_bytes);
    visit("bulk_requests", c.bulk_requests);
    visit("bulk_load_bytes", c.bulk_load_bytes);
    visit("bulk_store_bytes", c.bulk_store_bytes);
    visit("bulk_load_sectors", c.bulk_load_sectors);
    visit("bulk_store_sectors", c.bulk_store_sectors);
    visit("max_warp_instructions_of_one_warp", c.max_warp_instructions_of_one_warp);
    visit("max_global_loads_of_one_warp", c.max_global_loads_of_one_warp);
}

template <class Line, class Visit>
void visit_line(Line& l, const Visit& visit) {
    visit(l.warp_instructions);
    visit(l.thread_instructions);
    visit(l.global_sectors);
    visit(l.global_requests);
    visit(l.ideal_global_sectors);
    visit(l.shared_wavefronts);
    visit(l.shared_requests);
    visit(l.shared_conflicts);
    visit(l.divergent_branches);
    visit(l.global_store_sectors);
    visit(l.global_store_requests);
    visit(l.ideal_global_store_sectors);
    visit(l.global_atomic_operations);
    visit(l.local_requests);
    visit(l.inst_fma);
    visit(l.inst_xu);
    visit(l.inst_fp64);
    visit(l.bulk_bytes);
    visit(l.tensor_flops);
}

template <class Read>
auto guarded(const char* what, const Read& read) -> Result<decltype(read())> {
    try {
        return read();
    } catch (const Json::exception& e) {
        return Error{fmt::format("a {} from the device worker is malformed: {}", what, e.what())};
    } catch (const std::out_of_range&) {
        return Error{fmt::format("a {} from the device worker lacks its data", what)};
    }
}

Json limits_to(const emulator::Limits& l) {
    return {{"sm_count", l.sm_count},
            {"threads", l.max_threads_per_block},
            {"block", {l.max_block_x, l.max_block_y, l.max_block_z}},
            {"grid", {l.max_grid_x, l.max_grid_y, l.max_grid_z}},
            {"static_shared", l.max_static_shared},
            {"shared_optin", l.max_shared_optin},
            {"cluster", l.max_cluster_blocks},
            {"clock_mhz", l.clock_mhz}};
}

emulator::Limits limits_from(const Json& j) {
    emulator::Limits l;
    l.sm_count = j.at("sm_count").get<std::uint32_t>();
    l.max_threads_per_block = j.at("threads").get<std::uint32_t>();
    l.max_block_x = j.at("block").at(0).get<std::uint32_t>();
    l.max_block_y = j.at("block").at(1).get<std::uint32_t>();
    l.max_block_z = j.at("block").at(2).get<std::uint32_t>();
    l.max_grid_x = j.at("grid").at(0).get<std::uint64_t>();
    l.max_grid_y = j.at("grid").at(1).get<std::uint64_t>();
    l.max_grid_z = j.at("grid").at(2).get<std::uint64_t>();
    l.max_static_shared = j.at("static_shared").get<std::uint32_t>();
    l.max_shared_optin = j.at("shared_optin").get<std::uint32_t>();
    l.max_cluster_blocks = j.at("cluster").get<std::uint32_t>();
    l.clock_mhz = j.at("clock_mhz").get<std::uint32_t>();
    return l;
}

}  // namespace

Packet pack(const Job& job) {
    Packet p;
    Json buffers = Json::array();
    for (const JobBuffer& b : job.buffers) {
        buffers.push_back({{"name", b.name},
                           {"size", b.size},
                           {"kind", static_cast<int>(b.kind)},
                           {"fetch", b.fetch},
                           {"blob", b.content.empty() ? -1 : static_cast<int>(p.blobs.size())}});
        if (!b.content.empty()) p.blobs.push_back(bytes_to_blob(b.content));
    }
    Json kernels = Json::array();
    for (const BoundKernel& k : job.kernels) {
        Json arguments = Json::array();
        for (const BoundArgument& a : k.arguments) {
            Json bytes = Json::array();
            for (const std::byte b : a.bytes) bytes.push_back(static_cast<int>(b));
            Json entry = {{"buffer", a.buffer}, {"tensormap", a.tensormap}, {"bytes", std::move(bytes)}};
            if (a.map)
                entry["map"] = {{"tensor", a.map->tensor},  {"dtype", static_cast<int>(a.map->dtype)},
                                {"dims", a.map->dims},      {"strides", a.map->strides},
                                {"box", a.map->box},        {"swizzle", a.map->swizzle},
                                {"oob_nan", a.map->oob_nan}};
            arguments.push_back(std::move(entry));
        }
        kernels.push_back({{"name", k.name},
                           {"grid", k.grid},
                           {"block", k.block},
                           {"cluster", k.cluster},
                           {"dynamic_shared", k.dynamic_shared},
                           {"arguments", std::move(arguments)},
                           {"constants", k.constants},
                           {"cooperative", k.cooperative},
                           {"line", k.line}});
    }
    p.header = {{"buffers", std::move(buffers)},
                {"kernels", std::move(kernels)},
                {"lowered_names", job.lowered_names},
                {"limits", limits_to(job.limits)},
                {"check_races", job.check_races},
                {"count", job.count},
                {"schedule_seed", job.schedule_seed},
                {"address_seed", job.address_seed},
                {"poison", job.poison},
                {"max_warp_instructions", job.max_warp_instructions},
                {"max_time_ms", job.max_time.count()},
                {"sample_blocks", job.sample_blocks}};
    return p;
}

Result<Job> unpack_job(const Packet& packet) {
    return guarded("job", [&] {
        const Json& h = packet.header;
        Job job;
        for (const Json& b : h.at("buffers")) {
            JobBuffer buffer;
            buffer.name = b.at("name").get<std::string>();
            buffer.size = b.at("size").get<std::uint64_t>();
            buffer.kind = static_cast<emulator::BufferKind>(b.at("kind").get<int>());
            buffer.fetch = b.at("fetch").get<bool>();
            const int blob = b.at("blob").get<int>();
            if (blob >= 0) buffer.content = blob_to_bytes(packet.blobs.at(static_cast<std::size_t>(blob)));
            job.buffers.push_back(std::move(buffer));
        }
        for (const Json& k : h.at("kernels")) {
            BoundKernel kernel;
            kernel.name = k.at("name").get<std::string>();
            kernel.grid = k.at("grid").get<std::array<std::uint32_t, 3>>();
            kernel.block = k.at("block").get<std::array<std::uint32_t, 3>>();
            kernel.cluster = k.at("cluster").get<std::array<std::uint32_t, 3>>();
            kernel.dynamic_shared = k.at("dynamic_shared").get<std::uint32_t>();
            kernel.constants = k.at("constants").get<std::map<std::string, std::string>>();
            kernel.cooperative = k.at("cooperative").get<bool>();
            kernel.line = k.at("line").get<int>();
            for (const Json& a : k.at("arguments")) {
                BoundArgument argument;
                argument.buffer = a.at("buffer").get<std::string>();
                argument.tensormap = a.at("tensormap").get<std::string>();
                if (a.contains("map")) {
                    const Json& m = a.at("map");
                    BoundTensorMap map;
                    map.tensor = m.at("tensor").get<std::string>();
                    map.dtype = static_cast<DType>(m.at("dtype").get<int>());
                    map.dims = m.at("dims").get<std::vector<std::int64_t>>();
                    map.strides = m.at("strides").get<std::vector<std::int64_t>>();
                    map.box = m.at("box").get<std::vector<std::int64_t>>();
                    map.swizzle = m.at("swizzle").get<int>();
                    map.oob_nan = m.at("oob_nan").get<bool>();
                    argument.map = std::move(map);
                }
                for (const Json& b : a.at("bytes"))
                    argument.bytes.push_back(static_cast<std::byte>(b.get<int>()));
                kernel.arguments.push_back(std::move(argument));
            }
            job.kernels.push_back(std::move(kernel));
        }
        job.lowered_names = h.at("lowered_names").get<std::map<std::string, std::string>>();
        job.limits = limits_from(h.at("limits"));
        job.check_races = h.at("check_races").get<bool>();
        job.count = h.at("count").get<bool>();
        job.schedule_seed = h.at("schedule_seed").get<std::uint64_t>();
        job.address_seed = h.at("address_seed").get<std::uint64_t>();
        job.poison = h.at("poison").get<std::uint8_t>();
        job.max_warp_instructions = h.at("max_warp_instructions").get<std::uint64_t>();
        job.max_time = std::chrono::milliseconds(h.at("max_time_ms").get<std::int64_t>());
        job.sample_blocks = h.at("sample_blocks").get<std::uint64_t>();
        return job;
    });
}

Packet pack(const JobOutcome& outcome) {
    Packet p;
    Json kernels = Json::array();
    for (const KernelRun& k : outcome.kernels) {
        Json faults = Json::array();
        for (const Fault& f : k.faults) faults.push_back(fault_to(f));
        kernels.push_back(
            {{"name", k.name},
             {"refused", k.refused ? Json({k.refused->rule, k.refused->message}) : Json(nullptr)},
             {"faults", std::move(faults)},
             {"counters", to_json(k.counters)},
             {"blocks_total", k.blocks_total},
             {"blocks_run", k.blocks_run},
             {"printed", k.printed}});
    }
    Json fetched = Json::array();
    for (const auto& [name, f] : outcome.fetched) {
        fetched.push_back({{"name", name}, {"written", f.written.size()}});
        p.blobs.push_back(bytes_to_blob(f.bytes));
        p.blobs.push_back(bits_to_blob(f.written));
    }
    p.header = {{"kernels", std::move(kernels)}, {"fetched", std::move(fetched)}};
    return p;
}

Result<JobOutcome> unpack_outcome(const Packet& packet) {
    return guarded("result", [&] {
        JobOutcome outcome;
        for (const Json& k : packet.header.at("kernels")) {
            KernelRun run;
            run.name = k.at("name").get<std::string>();
            if (const Json& r = k.at("refused"); !r.is_null()) {
                run.refused = emulator::LaunchError{r.at(0).get<std::string>(), r.at(1).get<std::string>()};
            }
            for (const Json& f : k.at("faults")) run.faults.push_back(fault_from(f));
            auto counters = counters_from_json(k.at("counters"));
            if (counters) run.counters = std::move(*counters);
            run.blocks_total = k.at("blocks_total").get<std::uint64_t>();
            run.blocks_run = k.at("blocks_run").get<std::uint64_t>();
            run.printed = k.at("printed").get<std::string>();
            outcome.kernels.push_back(std::move(run));
        }
        std::size_t blob = 0;
        for (const Json& f : packet.header.at("fetched")) {
            FetchedBuffer fetched;
            fetched.bytes = blob_to_bytes(packet.blobs.at(blob));
            fetched.written = blob_to_bits(packet.blobs.at(blob + 1), f.at("written").get<std::size_t>());
            blob += 2;
            outcome.fetched[f.at("name").get<std::string>()] = std::move(fetched);
        }
        return outcome;
    });
}

Json to_json(const Counters& counters) {
    Json out = Json::object();
    visit_counters(counters, [&](const char* name, std::uint64_t value) {
        if (value != 0) out[name] = value;
    });
    Json lines = Json::array();
    for (const auto& [at, line] : counters.lines) {
        Json row = Json::array({at.first, at.second});
        visit_line(line, [&](std::uint64_t value) { row.push_back(value); });
        lines.push_back(std::move(row));
    }
    if (!lines.empty()) out["lines"] = std::move(lines);
    return out;
}

Result<Counters> counters_from_json(const Json& json) {
    return guarded("counter table", [&] {
        Counters counters;
        visit_counters(counters, [&](const char* name, std::uint64_t& value) {
            value = json.value(name, std::uint64_t{0});
        });
        if (const auto it = json.find("lines"); it != json.end()) {
            for (const Json& row : *it) {
                LineCounters line;
                std::size_t i = 2;
                visit_line(line, [&](std::uint64_t& value) { value = row.at(i++).get<std::uint64_t>(); });
                counters.lines[{row.at(0).get<std::string>(), row.at(1).get<int>()}] = line;
            }
        }
        return counters;
    });
}

Json to_json(const emulator::KernelInfo& kernel) {
    Json parameters = Json::array();
    for (const emulator::ParameterInfo& p : kernel.parameters) {
        parameters.push_back({p.name, p.size, p.align, p.offset, p.type, p.is_array, p.is_pointer});
    }
    return {{"name", kernel.name},
            {"parameters", std::move(parameters)},
            {"parameter_bytes", kernel.parameter_bytes},
            {"static_shared", kernel.static_shared},
            {"local_bytes", kernel.local_bytes},
            {"required_block", maybe_dim(kernel.required_block)},
            {"max_block", maybe_dim(kernel.max_block)},
            {"uses_grid_sync", kernel.uses_grid_sync}};
}

Result<emulator::KernelInfo> kernel_info_from_json(const Json& json) {
    return guarded("kernel description", [&] {
        emulator::KernelInfo k;
        k.name = json.at("name").get<std::string>();
        for (const Json& p : json.at("parameters")) {
            k.parameters.push_back({p.at(0).get<std::string>(), p.at(1).get<std::uint32_t>(),
                                    p.at(2).get<std::uint32_t>(), p.at(3).get<std::uint32_t>(),
                                    p.at(4).get<std::string>(), p.at(5).get<bool>(), p.at(6).get<bool>()});
        }
        k.parameter_bytes = json.at("parameter_bytes").get<std::uint32_t>();
        k.static_shared = json.at("static_shared").get<std::uint32_t>();
        k.local_bytes = json.at("local_bytes").get<std::uint32_t>();
        k.required_block = maybe_dim_from(json.at("required_block"));
        k.max_block = maybe_dim_from(json.at("max_block"));
        k.uses_grid_sync = json.at("uses_grid_sync").get<bool>();
        return k;
    });
}

Json to_json(const emulator::GlobalInfo& g) {
    return {{"name", g.name},
            {"space", g.space},
            {"size", g.size},
            {"initialised", g.initialised},
            {"written", g.written}};
}

Result<emulator::GlobalInfo> global_info_from_json(const Json& json) {
    return guarded("variable description", [&] {
        emulator::GlobalInfo g;
        g.name = json.at("name").get<std::string>();
        g.space = json.at("space").get<std::string>();
        g.size = json.at("size").get<std::uint64_t>();
        g.initialised = json.at("initialised").get<bool>();
        g.written = json.at("written").get<bool>();
        return g;
    });
}

Json to_json(const emulator::LoadError& e) {
    return {{"unsupported", e.kind == emulator::LoadError::Kind::unsupported},
            {"ptx_line", e.ptx_line},
            {"instruction", e.instruction},
            {"message", e.message},
            {"file", e.file},
            {"line", e.line}};
}

Result<emulator::LoadError> load_error_from_json(const Json& json) {
    return guarded("load error", [&] {
        emulator::LoadError e;
        e.kind = json.at("unsupported").get<bool>() ? emulator::LoadError::Kind::unsupported
                                                    : emulator::LoadError::Kind::syntax;
        e.ptx_line = json.at("ptx_line").get<int>();
        e.instruction = json.at("instruction").get<std::string>();
        e.message = json.at("message").get<std::string>();
        e.file = json.at("file").get<std::string>();
        e.line = json.at("line").get<int>();
        return e;
    });
}

}  // namespace kernelwright::wire
