#include "emulator/src/launch/prepare.h"

#include <algorithm>
#include <array>
#include <bit>

#include "emulator/src/races/shadow.h"

namespace emulator::exec {

void prepare_buffers(Launch& launch) {
    launch.shadow_pages = (std::uint64_t{1} << 30) / (races::GlobalShadow::kPageCells * sizeof(races::Cell));
    for (const auto& buffer : launch.memory->buffers) {
        if (launch.count) {
            buffer->sectors_read.start(buffer->address, buffer->size);
            if (buffer->writable) buffer->sectors_written.start(buffer->address, buffer->size);
        }
        if (launch.check_races && buffer->writable && buffer->role != Buffer::Role::workspace) {
            buffer->shadow.reset(new races::GlobalShadow);
            buffer->shadow->pages.resize(buffer->size / 4 / races::GlobalShadow::kPageCells + 1);
            buffer->shadow->budget = &launch.shadow_pages;
        }
    }
}
void release_buffers(Launch& launch) {
    for (const auto& buffer : launch.memory->buffers) {
        buffer->sectors_read.stop();
        buffer->sectors_written.stop();
        buffer->shadow.reset();
        buffer->claims.reset();
    }
}

void start_claims(Launch& launch) {
    for (const auto& buffer : launch.memory->buffers)
        if (buffer->writable) buffer->claims = std::make_unique<Claims>(buffer->size);
}

void AccessCounters::add(const AccessCounters& other) {
    using Fields = std::array<std::uint64_t, sizeof(AccessCounters) / sizeof(std::uint64_t)>;
    auto fields = std::bit_cast<Fields>(*this);
    const auto more = std::bit_cast<Fields>(other);
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i] += more[i];
    *this = std::bit_cast<AccessCounters>(fields);
}

void Totals::add(const Totals& other) {
    for (std::size_t i = 0; i < executed.size(); ++i) {
        executed[i].warp += other.executed[i].warp;
        executed[i].threads += other.executed[i].threads;
        executed[i].on += other.executed[i].on;
    }
    for (std::size_t i = 0; i < accesses.size(); ++i) accesses[i].add(other.accesses[i]);
    instructions += other.instructions;
    surcharge += other.surcharge;
    blocks_launched += other.blocks_launched;
    warps_launched += other.warps_launched;
    max_warp_instructions = std::max(max_warp_instructions, other.max_warp_instructions);
    max_global_loads = std::max(max_global_loads, other.max_global_loads);
    barrier_arrivals += other.barrier_arrivals;
    async_requests += other.async_requests;
    async_bytes += other.async_bytes;
    bulk_requests += other.bulk_requests;
    bulk_load_bytes += other.bulk_load_bytes;
    bulk_store_bytes += other.bulk_store_bytes;
    // Blocks with global atomics are not shared out: there are no addresses to add.
}

}  // namespace emulator::exec
