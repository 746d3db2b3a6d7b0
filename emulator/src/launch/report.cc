#include "emulator/src/exec/report.h"

#include <fmt/format.h>

#include "emulator/src/exec/undefined.h"

namespace emulator::exec {

Place place_of_id(const Launch& launch, std::uint32_t id) {
    const ptx::Instruction* text = id < launch.program->text.size() ? launch.program->text[id] : nullptr;
    return text ? ptx::place_of(*launch.module, *text) : Place{};
}
Place place_of(const Launch& launch, const Instr& instr) { return place_of_id(launch, instr.id); }

Dim3 thread_of(const Launch& launch, std::uint32_t t) {
    const Dim3& b = launch.block;
    return {t % b.x, t / b.x % b.y, t / (b.x * b.y)};
}
Dim3 block_of(const Launch& launch, std::uint64_t b) {
    const Dim3& g = launch.grid;
    return {static_cast<std::uint32_t>(b % g.x), static_cast<std::uint32_t>(b / g.x % g.y),
            static_cast<std::uint32_t>(b / (std::uint64_t{g.x} * g.y))};
}

std::uint64_t linear_of(const Launch& launch, std::uint64_t ordinal) {
    if (launch.blocks_per_cluster == 1 || ordinal == ~std::uint64_t{0}) return ordinal;
    const Dim3 &g = launch.grid, &c = launch.cluster;
    const std::uint64_t cluster = ordinal / launch.blocks_per_cluster;
    const std::uint64_t rank = ordinal % launch.blocks_per_cluster;
    const std::uint64_t columns = g.x / c.x, rows = g.y / c.y;
    const std::uint64_t x = cluster % columns * c.x + rank % c.x;
    const std::uint64_t y = cluster / columns % rows * c.y + rank / c.x % c.y;
    const std::uint64_t z = cluster / (columns * rows) * c.z + rank / (std::uint64_t{c.x} * c.y);
    return (z * g.y + y) * g.x + x;
}

// Two parties are one fault whichever of them came second.
static std::pair<std::string, std::uint64_t> key_of(const Launch& launch, const char* rule, std::uint32_t id,
                                                    std::uint32_t other) {
    std::uint32_t a = launch.program->places[id];
    std::uint32_t b = other == ~0u ? other : launch.program->places[other];
    if (a > b) std::swap(a, b);
    return {rule, std::uint64_t{a} << 32 | b};
}
bool repeated(Launch& launch, const char* rule, std::uint32_t id, std::uint32_t other_id) {
    const auto it = launch.fault_index.find(key_of(launch, rule, id, other_id));
    if (it == launch.fault_index.end()) return false;
    launch.outcome->faults[it->second].occurrences += 1;
    return true;
}

void report_id(Launch& launch, const char* rule, std::uint32_t id, std::uint64_t block, std::uint32_t thread,
               std::string message, bool fatal, const OtherParty* other) {
    if (fatal) launch.stopped = true;
    if (repeated(launch, rule, id, other ? other->id : ~0u)) return;
    if (launch.outcome->faults.size() >= launch.options->max_faults) {
        launch.stopped = true;
        return;
    }
    Fault fault;
    fault.rule = rule;
    fault.kernel = launch.request->kernel;
    fault.place = place_of_id(launch, id);
    fault.message = std::move(message);
    fault.block = block_of(launch, block);
    fault.thread = thread_of(launch, thread);
    if (other) {
        Fault::Party party;
        party.place = place_of_id(launch, other->id);
        party.note = other->note;
        if (other->has_thread) {
            party.block = block_of(launch, other->block);
            party.thread = thread_of(launch, other->thread);
        }
        fault.other = std::move(party);
    }
    launch.fault_index[key_of(launch, rule, id, other ? other->id : ~0u)] = launch.outcome->faults.size();
    launch.outcome->faults.push_back(std::move(fault));
    if (launch.outcome->faults.size() >= launch.options->max_faults) launch.stopped = true;
}
void report(Warp& w, const char* rule, const Instr& in, int lane, std::string message, bool fatal,
            const OtherParty* other) {
    report_id(*w.launch, rule, in.id, w.block->linear, w.first_thread + static_cast<std::uint32_t>(lane),
              std::move(message), fatal, other);
}

// "tile" of a local variable's mangled name "_ZZ4kernPfE4tile".
static std::string plain_name(const std::string& name) {
    if (name.rfind("_ZZ", 0) != 0) return name;
    for (std::size_t e = name.rfind('E'); e != std::string::npos && e > 0; e = name.rfind('E', e - 1)) {
        std::size_t digits = e + 1, length = 0;
        while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9' && length < 1000)
            length = length * 10 + static_cast<std::size_t>(name[digits++] - '0');
        if (length > 0 && digits + length <= name.size()) return name.substr(digits, length);
    }
    return name;
}

std::string describe(const Launch& launch, const Buffer* buffer, bool shared, std::uint64_t address,
                     std::uint32_t bytes) {
    const char* plural = bytes == 1 ? "byte" : "bytes";
    if (buffer)
        return fmt::format("{} {} at offset {} of `{}`", bytes, plural, address - buffer->address,
                           buffer->name);
    if (shared && launch.kernel_text) {
        for (const ptx::Variable* v : launch.kernel_text->shared) {
            const std::uint64_t begin = v->is_extern ? launch.kernel_text->dynamic_shared_offset : v->offset;
            const std::uint64_t end = v->is_extern ? launch.shared_bytes : v->offset + v->size;
            if (address >= begin && address < end)
                return fmt::format("{} {} at offset {} of the shared `{}`", bytes, plural, address - begin,
                                   plain_name(v->name));
        }
        return fmt::format("{} {} at offset {} of shared memory", bytes, plural, address);
    }
    return fmt::format("{} {} at offset {} of local memory", bytes, plural, address);
}

static const char* verb(bool is_store) { return is_store ? "writes" : "reads"; }

void report_bad_address(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                        bool is_store) {
    const Buffer* buffer = w.launch->memory->at(address);
    const char* plural = bytes == 1 ? "byte" : "bytes";
    if (!buffer) {
        if (address < (std::uint64_t{1} << kSlotShift)) {
            report(w, "null-access", in, lane,
                   fmt::format("{} {} {} at address {:#x}: a null pointer{}", verb(is_store), bytes, plural,
                               address, address ? " plus an offset" : ""),
                   true);
            return;
        }
        report(w, "out-of-bounds", in, lane,
               fmt::format("{} {} {} at address {:#x}, where no buffer is", verb(is_store), bytes, plural,
                           address),
               true);
        return;
    }
    if (buffer->contains(address, bytes)) {  // a store that is not allowed
        const char* what = buffer->role == Buffer::Role::constant_variable ? "constant memory"
                           : buffer->role == Buffer::Role::parameters      ? "the kernel's parameters"
                                                                           : "an input";
        report(w, "input-write", in, lane,
               fmt::format("writes {}: `{}` is {}", describe(*w.launch, buffer, false, address, bytes),
                           buffer->name, what),
               true);
        return;
    }
    const std::int64_t offset = static_cast<std::int64_t>(address - buffer->address);
    report(w, "out-of-bounds", in, lane,
           fmt::format("{} {} {} at offset {} of `{}`, which has {} bytes", verb(is_store), bytes, plural,
                       offset, buffer->name, buffer->size),
           true);
}
void report_misaligned(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                       bool is_store, const char* what) {
    const Buffer* buffer = w.launch->memory->at(address);
    const std::string where = buffer
                                  ? fmt::format("offset {} of `{}`", address - buffer->address, buffer->name)
                                  : fmt::format("offset {} of {}", address, what);
    report(
        w, "misaligned-access", in, lane,
        fmt::format("{} {} bytes at {}, which is not a multiple of {}", verb(is_store), bytes, where, bytes),
        true);
}
void report_bad_shared(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                       bool is_store) {
    // Past the last array: most likely an index into it that is too large.
    const ptx::Variable* last = nullptr;
    std::uint64_t begin = 0;
    if (w.launch->kernel_text)
        for (const ptx::Variable* v : w.launch->kernel_text->shared) {
            const std::uint64_t at =
                v->is_extern ? w.launch->kernel_text->dynamic_shared_offset : std::uint64_t{v->offset};
            if (at > address || (last && at < begin)) continue;
            last = v;
            begin = at;
        }
    if (last && static_cast<std::int32_t>(address) >= 0) {
        report(w, "out-of-bounds", in, lane,
               fmt::format("{} {} bytes at offset {} of the shared `{}`, which has {} bytes", verb(is_store),
                           bytes, address - begin, plain_name(last->name),
                           last->is_extern ? w.block->shared_bytes - begin : std::uint64_t{last->size}),
               true);
        return;
    }
    report(w, "out-of-bounds", in, lane,
           fmt::format("{} {} bytes at offset {} of shared memory, of which the block has {} bytes",
                       verb(is_store), bytes, static_cast<std::int64_t>(static_cast<std::int32_t>(address)),
                       w.block->shared_bytes),
           true);
}
void report_bad_local(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                      bool is_store, std::uint64_t limit) {
    report(w, "out-of-bounds", in, lane,
           fmt::format("{} {} bytes at offset {} of local memory, of which the thread has {} bytes",
                       verb(is_store), bytes, static_cast<std::int64_t>(address), limit),
           true);
}

}  // namespace emulator::exec
