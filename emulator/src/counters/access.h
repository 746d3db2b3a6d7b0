// What one warp-wide access costs: sectors of global memory, wavefronts of shared memory. Functions have
// internal linkage, because the executor's files are compiled for two instruction sets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "emulator/src/exec/state.h"

namespace emulator::counters {

using exec::Instr;
using exec::kLanes;
using exec::Mask;
using exec::Warp;

struct Shape {
    std::uint64_t low = 0, high = 0;  // lowest and highest address of active lanes
    std::uint64_t any = 0;            // the bits set in some address
    bool consecutive = false;         // lane after lane, without gaps, ascending
    bool equal = false;
    // All lanes active, and each quarter of the warp (8 lanes) is consecutive or equal: its ends.
    bool quarters = false;
    std::uint64_t begin[4] = {}, end[4] = {};  // end: past the last byte
};

static inline void mark_sectors(Buffer& buffer, std::uint64_t first, std::uint64_t last, bool store) {
    SectorLog& log = store ? buffer.sectors_written : buffer.sectors_read;
    if (log.is_on()) log.touch_all(first, last);
}

// The buffer that all lanes lie in; null: several.
static inline Buffer* common_buffer(Warp& w, Mask exec, const std::uint64_t* address) {
    Buffer* common = w.launch->memory->at(address[std::countr_zero(exec)]);
    for (Mask m = exec; m; m &= m - 1)
        if (w.launch->memory->at(address[std::countr_zero(m)]) != common) return nullptr;
    return common;
}

// Sectors and bytes, each counted once, of lanes in several buffers.
struct Footprint {
    std::uint64_t sectors = 0, bytes = 0;
};
static inline Footprint footprint_of(Mask exec, const std::uint64_t* address, std::uint32_t bytes) {
    std::uint64_t sorted[kLanes];
    int n = 0;
    for (Mask m = exec; m; m &= m - 1) sorted[n++] = address[std::countr_zero(m)];
    std::sort(sorted, sorted + n);
    Footprint f;
    std::uint64_t next_sector = 0, covered = 0;
    for (int i = 0; i < n; ++i) {
        const std::uint64_t end = sorted[i] + bytes;
        const std::uint64_t fresh = std::max(sorted[i], covered);
        if (end > fresh) f.bytes += end - fresh;
        covered = std::max(covered, end);
        const std::uint64_t first = std::max(sorted[i] >> 5, next_sector), last = (end - 1) >> 5;
        if (last + 1 > first) {
            f.sectors += last - first + 1;
            next_sector = last + 1;
        }
    }
    return f;
}
// The same for lanes in the buffer of this log. An access has 32 bytes at most.
static inline Footprint log_footprint(SectorLog& log, Mask exec, const std::uint64_t* address,
                                      std::uint32_t bytes) {
    log.begin_request();
    std::uint32_t touched[SectorLog::kMostSectors];  // the bytes of each sector
    std::uint32_t n = 0;
    const std::uint64_t part = (std::uint64_t{1} << bytes) - 1;
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t at = address[std::countr_zero(m)];
        const std::uint64_t both = part << (at & 31);
        const std::uint32_t before = n, number = log.touch(at >> 5, n);
        touched[number] = (number == before ? 0 : touched[number]) | static_cast<std::uint32_t>(both);
        if (const auto rest = static_cast<std::uint32_t>(both >> 32)) [[unlikely]] {
            const std::uint32_t known = n, next = log.touch((at >> 5) + 1, n);
            touched[next] = (next == known ? 0 : touched[next]) | rest;
        }
    }
    Footprint f;
    f.sectors = n;
    for (std::uint32_t i = 0; i < n; ++i) f.bytes += static_cast<std::uint64_t>(std::popcount(touched[i]));
    return f;
}

// buffer: null when lanes lie in several.
static inline void count_global(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                                std::uint32_t bytes, const Shape& shape, Buffer* buffer, bool store) {
    exec::AccessCounters& c = w.launch->accesses[in.id];
    c.requests += 1;
    const std::uint32_t active = static_cast<std::uint32_t>(std::popcount(exec));
    c.bytes += std::uint64_t{active} * bytes;
    if (!buffer)
        for (Mask m = exec; m; m &= m - 1) {
            const std::uint64_t at = address[std::countr_zero(m)];
            mark_sectors(*w.launch->memory->at(at), at >> 5, (at + bytes - 1) >> 5, store);
        }
    if (shape.consecutive || shape.equal) {
        const std::uint64_t first = shape.low >> 5, last = (shape.high + bytes - 1) >> 5;
        c.sectors += last - first + 1;
        c.ideal += (shape.high - shape.low + bytes + 31) >> 5;
        if (buffer) mark_sectors(*buffer, first, last, store);
        return;
    }
    SectorLog* log = !buffer ? nullptr : store ? &buffer->sectors_written : &buffer->sectors_read;
    const Footprint f = log && log->is_on() && bytes <= 32 ? log_footprint(*log, exec, address, bytes)
                                                           : footprint_of(exec, address, bytes);
    c.sectors += f.sectors;
    c.ideal += (f.bytes + 31) >> 5;
}

// Words that share a bank are served one after the other, unless they are the same word. Accesses of 8 and
// 16 bytes go in half and quarter warps.
static inline void count_shared(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                                std::uint32_t bytes, const Shape& shape, bool store) {
    (void)store;
    exec::AccessCounters& c = w.launch->accesses[in.id];
    c.shared_requests += 1;
    c.shared_bytes += std::uint64_t{static_cast<std::uint32_t>(std::popcount(exec))} * bytes;
    if (bytes <= 4 && (shape.equal || shape.consecutive)) {
        c.wavefronts += 1;
        return;
    }
    if (bytes == 4 && shape.quarters) {
        // Runs of banks, one per quarter; runs of the same words count once.
        Mask banks = 0;
        bool simple = true;
        for (int q = 0; q < 4; ++q) {
            bool repeated = false;
            for (int k = 0; k < q; ++k)
                repeated |= shape.begin[k] == shape.begin[q] && shape.end[k] == shape.end[q];
            if (repeated) continue;
            const std::uint32_t words = static_cast<std::uint32_t>((shape.end[q] - shape.begin[q]) >> 2);
            const Mask run =
                std::rotl(words == 8 ? Mask{0xff} : Mask{1}, static_cast<int>((shape.begin[q] >> 2) & 31));
            simple &= (banks & run) == 0;
            banks |= run;
        }
        if (simple) {
            c.wavefronts += 1;
            return;
        }
    }
    const int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    for (int base = 0; base < kLanes; base += lanes) {
        const Mask part = exec & (lanes == 32 ? ~Mask{0} : ((Mask{1} << lanes) - 1) << base);
        if (!part) continue;
        if (bytes == 4) {
            Mask banks = 0, twice = 0;
            for (Mask m = part; m; m &= m - 1) {
                const Mask bank = Mask{1} << ((address[std::countr_zero(m)] >> 2) & 31);
                twice |= banks & bank;
                banks |= bank;
            }
            if (!twice) {
                c.wavefronts += 1;
                continue;
            }
        }
        std::uint32_t words[32][32];
        std::uint8_t count[32] = {};
        std::uint32_t worst = 1;
        for (Mask m = part; m; m &= m - 1) {
            const std::uint64_t a = address[std::countr_zero(m)];
            for (std::uint64_t at = a >> 2; at <= (a + bytes - 1) >> 2; ++at) {
                const std::uint32_t word = static_cast<std::uint32_t>(at), bank = word & 31;
                std::uint32_t k = 0;
                while (k < count[bank] && words[bank][k] != word) ++k;
                if (k == count[bank]) {
                    words[bank][k] = word;
                    count[bank] = static_cast<std::uint8_t>(k + 1);
                    worst = std::max(worst, k + 1);
                }
            }
        }
        c.wavefronts += worst;
        c.conflicts += worst - 1;
    }
}

// The operations that memory must do one after the other for the addresses of a global atomic. `combines`:
// the lanes of one address are combined before they leave the warp.
static inline void count_atomic(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                                bool combines) {
    // Beyond so many addresses none is contended enough to matter; their record must stay small.
    constexpr std::size_t most_addresses = std::size_t{1} << 20;
    auto& known = w.launch->atomic_addresses;
    const std::uint64_t block = w.block->linear;
    std::uint64_t sorted[kLanes];
    int n = 0;
    for (Mask m = exec; m; m &= m - 1) sorted[n++] = address[std::countr_zero(m)];
    std::sort(sorted, sorted + n);
    for (int i = 0, next = 0; i < n; i = next) {
        while (next < n && sorted[next] == sorted[i]) ++next;
        const bool single = i == 0 && next == n;
        const std::uint64_t operations = combines && single ? 1 : static_cast<std::uint64_t>(next - i);
        w.launch->accesses[in.id].operations += operations;
        auto at = known.find(sorted[i]);
        if (at == known.end()) {
            if (known.size() >= most_addresses) continue;
            at = known.emplace(sorted[i], exec::AtomicAddress{}).first;
        }
        exec::AtomicAddress& record = at->second;
        record.operations += operations;
        if (record.last_block != block) {
            record.last_block = block;
            ++record.blocks;
        }
    }
}

// Lanes of a shared atomic that fall into one bank are served one after the other, on the same word too.
static inline void count_shared_atomic(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                                       std::uint32_t bytes) {
    exec::AccessCounters& c = w.launch->accesses[in.id];
    c.shared_requests += 1;
    c.shared_bytes += std::uint64_t{static_cast<std::uint32_t>(std::popcount(exec))} * bytes;
    std::uint32_t lanes[32] = {}, worst = 0;
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t bank = (address[std::countr_zero(m)] >> 2) & 31;
        worst = std::max(worst, ++lanes[bank]);
    }
    c.wavefronts += worst;
    c.conflicts += worst > 0 ? worst - 1 : 0;
}

// Local memory is interleaved: word k of 32 lanes lies in 128 consecutive bytes.
static inline void count_local(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                               std::uint32_t bytes, bool store) {
    (void)store;
    exec::AccessCounters& c = w.launch->accesses[in.id];
    c.local_requests += 1;
    std::uint64_t seen[kLanes * 8];  // an access has 32 bytes at most
    int n = 0;
    for (Mask m = exec; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        for (std::uint64_t word = address[lane] >> 2; word <= (address[lane] + bytes - 1) >> 2; ++word) {
            const std::uint64_t sector = word * 4 + static_cast<std::uint64_t>(lane / 8);
            int k = n - 1;
            while (k >= 0 && seen[k] != sector) --k;
            if (k < 0) seen[n++] = sector;
        }
    }
    c.local_sectors += static_cast<std::uint64_t>(n);
}

}  // namespace emulator::counters
