// Asynchronous bulk copies: cp.async.bulk, the TMA forms over tensor maps, reductions, st.async, red.async.
// A handler checks addresses and sizes, takes the bytes that go to shared memory (those of a load are read
// when it is issued), tells the race checker, and hands the copy over; launch/async_copy lets it land.
#include <algorithm>

#include <fmt/format.h>

#include "emulator/src/counters/access.h"
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/report.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/launch/async_copy.h"
#include "emulator/src/launch/mbarrier.h"
#include "emulator/src/launch/tensor_map.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

// Two sources: base and offset.
u64 address_at(Warp& w, const Instr& in, int source, int lane) {
    const u64 a = lane_value(w, in.source(source), lane) + lane_value(w, in.source(source + 1), lane);
    return in.source(source).is_wide() ? a : static_cast<u32>(a);
}

struct Place {
    Block* home = nullptr;  // null after a fault
    u32 at = 0;
};
// `cluster`: the address may be in any block's shared memory.
Place shared_place(Warp& w, const Instr& in, int lane, u64 address, u32 bytes, u32 align, bool cluster,
                   bool is_store) {
    if (is_shared_window(address)) address -= kSharedWindow;
    Block* home = w.block;
    if (cluster) {
        home = home_of(w, in, lane, address);
        if (!home) return {};
    } else {
        address -= w.block->shared_base;
    }
    if (address > home->shared_bytes || bytes > home->shared_bytes - address) {
        report_bad_shared(w, in, lane, address, bytes, is_store);
        return {};
    }
    if (address & (align - 1)) {
        report(w, "misaligned-access", in, lane,
               fmt::format("{} {} bytes at offset {} of shared memory, which is not a multiple of {}",
                           is_store ? "copies" : "reads", bytes, address, align),
               true);
        return {};
    }
    return {home, static_cast<u32>(address)};
}
Buffer* global_place(Warp& w, const Instr& in, int lane, u64 address, u64 bytes, bool is_store) {
    Buffer* buffer = w.launch->memory->at(address);
    if (!buffer || !buffer->contains(address, bytes) || (is_store && !buffer->writable)) {
        report_bad_address(w, in, lane, address, static_cast<u32>(bytes), is_store);
        return nullptr;
    }
    return buffer;
}
bool aligned16(Warp& w, const Instr& in, int lane, u64 address, u32 bytes, bool is_store) {
    if (address % 16 == 0) return true;
    const Buffer* buffer = w.launch->memory->at(address);
    report(w, "misaligned-access", in, lane,
           fmt::format("a bulk copy {} {} bytes at offset {} of {}: both addresses must be multiples of 16",
                       is_store ? "writes" : "reads", bytes, buffer ? address - buffer->address : address,
                       buffer ? "`" + buffer->name + "`" : std::string("global memory")),
           true);
    return false;
}

Reduction reduction_of(const Instr& in) {
    Reduction r;
    r.active = in.sub2 != 0;
    if (!r.active) return r;
    r.operation = static_cast<u8>(in.sub2 - 1);
    r.kind = in.rounding;
    r.size = in.size;
    r.ftz = in.has(flag::ftz);
    return r;
}

void count_global(Warp& w, const Instr& in, Buffer& buffer, u64 address, u64 bytes, bool store) {
    Launch& launch = *w.launch;
    if (!launch.count || bytes == 0) return;
    const u64 first = address >> 5, last = (address + bytes - 1) >> 5;
    AccessCounters& c = launch.accesses[in.id];
    c.bulk_bytes += bytes;
    c.bulk_sectors += last - first + 1;
    counters::mark_sectors(buffer, first, last, store);
}

// ---- loads ----

struct Piece {  // of global memory, into the image of what lands
    u64 address = 0;
    u32 image = 0, bytes = 0;
};

// The bytes of all pieces; false after a fault.
bool gather(Warp& w, const Instr& in, int lane, const std::vector<Piece>& pieces, AsyncLoad& load,
            u32 stamp) {
    Launch& launch = *w.launch;
    for (const Piece& piece : pieces) {
        Buffer* buffer = global_place(w, in, lane, piece.address, piece.bytes, false);
        if (!buffer) return false;
        const u64 offset = piece.address - buffer->address;
        buffer->claim(piece.address, piece.bytes, false);
        if (launch.check_races)
            races::async_global(w, in, lane, *buffer, piece.address, piece.bytes, races::Kind::read, stamp,
                                false);
        std::memcpy(load.data.data() + piece.image, buffer->data() + offset, piece.bytes);
        if (buffer->track_initialised && !buffer->is_written(offset, piece.bytes)) {
            if (load.defined.empty()) load.defined.assign(load.data.size() / 64 + 1, ~u64{0});
            for (u32 i = 0; i < piece.bytes; ++i)
                if (!buffer->is_written(offset + i, 1)) clear_bits(load.defined.data(), piece.image + i, 1);
        }
        count_global(w, in, *buffer, piece.address, piece.bytes, false);
    }
    return true;
}

// A load into one block or several: destination and mbarrier have the same offsets in each.
struct Targets {
    Block* homes[16] = {};
    int count = 0;
    u32 destination = 0, barrier = 0;
};
// Sources: of the destination and of the mbarrier (two each), of the mask (-1: none).
bool find_targets(Warp& w, const Instr& in, int lane, int destination, int barrier, int mask, u32 bytes,
                  u32 align, Targets& out) {
    const bool cluster = in.has(flag::in_cluster);
    const Place to =
        shared_place(w, in, lane, address_at(w, in, destination, lane), bytes, align, cluster, true);
    if (!to.home) return false;
    const Place bar = shared_place(w, in, lane, address_at(w, in, barrier, lane), 8, 8, cluster, true);
    if (!bar.home) return false;
    out.destination = to.at;
    out.barrier = bar.at;
    if (mask < 0) {
        if (bar.home != to.home) {
            report(w, "bulk-copy", in, lane,
                   "the mbarrier is in another block's shared memory than the destination", true);
            return false;
        }
        out.homes[out.count++] = to.home;
    } else {
        const u32 ranks = static_cast<u32>(lane_value(w, in.source(mask), lane)) & 0xffff;
        if (ranks == 0) {
            report(w, "bulk-copy", in, lane, "a multicast to no block: its mask is 0", true);
            return false;
        }
        for (u32 rank = 0; rank < 16; ++rank) {
            if (!((ranks >> rank) & 1)) continue;
            u64 address = (u64{rank} << kRankShift) | to.at;
            Block* home = home_of(w, in, lane, address);
            if (!home) return false;
            out.homes[out.count++] = home;
        }
    }
    for (int k = 0; k < out.count; ++k)
        if (!find_mbarrier(w, in, lane, *out.homes[k], out.barrier)) return false;
    return true;
}
void deliver(Warp& w, const Instr& in, int lane, const Targets& targets, const std::vector<Piece>& pieces,
             std::vector<std::byte> image) {
    Launch& launch = *w.launch;
    AsyncLoad load;
    load.instr = &in;
    load.destination = targets.destination;
    load.barrier = targets.barrier;
    load.data = std::move(image);
    const u32 bytes = static_cast<u32>(load.data.size());
    if (launch.count) {
        launch.bulk_requests += 1;
        launch.bulk_load_bytes += bytes * static_cast<u64>(targets.count);
    }
    for (int k = 0; k < targets.count && !launch.stopped; ++k) {
        Block& home = *targets.homes[k];
        if (launch.check_races)
            load.stamp = races::async_stamp(*w.block, races::mbarrier_agent(home, load.barrier));
        if (k == 0 && !gather(w, in, lane, pieces, load, load.stamp)) return;
        if (launch.check_races)
            races::async_shared(w, in, lane, home, load.destination, bytes, races::Kind::write, load.stamp,
                                false);
        issue(w, lane, home, load);
    }
}

// ---- stores ----

void store(Warp& w, const Instr& in, int lane, std::vector<AsyncStore::Piece> pieces, Reduction reduction) {
    Launch& launch = *w.launch;
    AsyncStore s;
    s.instr = &in;
    s.lane = static_cast<u32>(lane);
    s.reduction = reduction;
    if (launch.check_races) {
        s.read_stamp = races::async_stamp(*w.block, races::warp_agent(w, races::Agent::bulk_reads));
        s.write_stamp = races::async_stamp(*w.block, races::warp_agent(w, races::Agent::bulk_writes));
    }
    for (const AsyncStore::Piece& piece : pieces) {
        Buffer* buffer = global_place(w, in, lane, piece.global, piece.bytes, true);
        if (!buffer) return;
        if (launch.check_initialised) {
            if (buffer->kind != BufferKind::scratch || !buffer->track_initialised)
                for (u32 i = 0; i < piece.bytes; ++i)
                    if (!all_bits(w.block->shared_written, piece.shared + i, 1)) {
                        report(w, "uninitialised-read", in, lane,
                               "reads " + describe(launch, nullptr, true, piece.shared + i, 1) +
                                   ", which nothing has written, and the value is stored in an output",
                               false);
                        break;
                    }
            const u64 offset = piece.global - buffer->address;
            if (reduction.active && buffer->track_initialised && !buffer->is_written(offset, piece.bytes))
                report_undefined(w, in, lane, buffer, piece.global, piece.bytes, false);
        }
        if (launch.check_races) {
            races::async_shared(w, in, lane, *w.block, piece.shared, piece.bytes, races::Kind::read,
                                s.read_stamp, false);
            races::async_global(w, in, lane, *buffer, piece.global, piece.bytes, races::Kind::write,
                                s.write_stamp, reduction.active);
        }
        count_global(w, in, *buffer, piece.global, piece.bytes, true);
        launch.bulk_store_bytes += launch.count ? piece.bytes : 0;
        if (launch.stopped) return;
    }
    if (launch.count) launch.bulk_requests += 1;
    s.pieces = std::move(pieces);
    issue(w, std::move(s));
}

// ---- cp.async.bulk, cp.reduce.async.bulk ----
// sub: 0 global to shared, 1 shared to a block's shared, 2 shared to global. Sources: destination, source,
// size, mbarrier (0, 1), mask with explicit_count.
void copy(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        Launch& launch = *w.launch;
        if (launch.stopped) return;
        const u32 bytes = static_cast<u32>(lane_value(w, in.source(4), lane));
        if (bytes % 16 != 0) {
            report(w, "bulk-copy", in, lane,
                   fmt::format("a bulk copy of {} bytes: the size must be a multiple of 16", bytes), true);
            return;
        }
        if (bytes == 0) return;
        const u64 first = address_at(w, in, 0, lane), second = address_at(w, in, 2, lane);
        if (in.sub == 2) {
            if (!aligned16(w, in, lane, first, bytes, true)) return;
            const Place from = shared_place(w, in, lane, second, bytes, 16, false, false);
            if (!from.home) return;
            store(w, in, lane, {{from.at, bytes, first}}, reduction_of(in));
            return;
        }
        Targets targets;
        if (!find_targets(w, in, lane, 0, 5, in.has(flag::explicit_count) ? 7 : -1, bytes, 16, targets))
            return;
        if (in.sub == 0) {
            if (!aligned16(w, in, lane, second, bytes, false)) return;
            deliver(w, in, lane, targets, {{second, 0, bytes}}, std::vector<std::byte>(bytes));
            return;
        }
        const Place from = shared_place(w, in, lane, second, bytes, 16, false, false);
        if (!from.home) return;
        Block& home = *targets.homes[0];
        AsyncLoad load;
        load.instr = &in;
        load.destination = targets.destination;
        load.barrier = targets.barrier;
        load.reduction = reduction_of(in);
        load.data.assign(w.block->shared + from.at, w.block->shared + from.at + bytes);
        if (!all_bits(w.block->shared_written, from.at, bytes)) {
            load.defined.assign(bytes / 64 + 1, 0);
            for (u32 i = 0; i < bytes; ++i)
                if (all_bits(w.block->shared_written, from.at + i, 1)) set_bits(load.defined.data(), i, 1);
        }
        if (launch.check_races) {
            load.stamp = races::async_stamp(*w.block, races::mbarrier_agent(home, load.barrier));
            races::async_shared(w, in, lane, *w.block, from.at, bytes, races::Kind::read, load.stamp, false);
            races::async_shared(w, in, lane, home, load.destination, bytes, races::Kind::write, load.stamp,
                                load.reduction.active);
        }
        if (launch.count) {
            launch.bulk_requests += 1;
            launch.bulk_load_bytes += bytes;
        }
        if (!launch.stopped) issue(w, lane, home, std::move(load));
    });
}
void commit_group(Warp& w, const Instr&, Mask exec) { commit_bulk_group(w, exec); }
void wait_group(Warp& w, const Instr& in, Mask exec) {
    w.launch->clock.pass(200, 400);
    wait_bulk_groups(w, exec, static_cast<u64>(in.imm), in.sub == 1);
}

// ---- tensor maps ----

bool read_map(Warp& w, const Instr& in, int lane, u64 address, TensorMapRequest& map) {
    Buffer* buffer = w.launch->memory->at(address);
    if (!buffer || !buffer->contains(address, sizeof(TensorMap))) {
        report_bad_address(w, in, lane, address, sizeof(TensorMap), false);
        return false;
    }
    if (address % 64 != 0) {
        report(w, "misaligned-access", in, lane,
               "the tensor map's address is not a multiple of 64: pass it as `const __grid_constant__ "
               "CUtensorMap`",
               true);
        return false;
    }
    if (const auto it = w.block->changed_maps.find(address); it != w.block->changed_maps.end()) {
        OtherParty other;
        other.id = it->second.id;
        other.block = w.block->linear;
        other.thread = it->second.thread;
        other.note = "the change";
        report(
            w, "missing-proxy-fence", in, lane,
            it->second.released
                ? "copies by a tensor map that was changed, without a "
                  "fence.proxy.tensormap::generic.acquire of it in between: the copy may go by the old one"
                : "copies by a tensor map that was changed in global memory, without a "
                  "fence.proxy.tensormap::generic.release after the change and an .acquire after that: the "
                  "copy may go by the old one",
            false, &other);
        w.block->changed_maps.erase(it);  // once is enough
    }
    TensorMap bytes;
    buffer->claim(address, sizeof bytes, false);
    std::memcpy(bytes.data(), buffer->data() + (address - buffer->address), sizeof bytes);
    auto decoded = decode_tensor_map(bytes);
    if (!decoded) {
        report(w, "bulk-copy", in, lane, "what is used as a tensor map is none", true);
        return false;
    }
    if (const auto error = check_tensor_map(*decoded)) {
        report(w, "bulk-copy", in, lane, "the tensor map is not valid: " + error->message, true);
        return false;
    }
    map = std::move(*decoded);
    return true;
}

// Shared memory is swizzled by address: 16-byte chunks within 32, 64 or 128 bytes.
u32 swizzled(u32 at, TensorMapRequest::Swizzle swizzle) {
    const u32 mask = swizzle == TensorMapRequest::Swizzle::none ? 0 : (1u << static_cast<u32>(swizzle)) - 1;
    return at ^ (((at >> 7) & mask) << 4);
}

u64 nan_of(TensorMapRequest::Type type) {
    using enum TensorMapRequest::Type;
    return type == f64 ? 0x7fffffffffffffffull : type == f32 ? 0x7fffffffull : 0x7fffull;
}

// The box of a copy: rows of the innermost dimension, where each lies in the box and, where it is inside the
// tensor, in memory.
struct Box {
    u32 element = 0, row = 0, bytes = 0;  // bytes of an element, a row, the box
    struct Row {
        u32 at = 0;              // in the box
        u32 begin = 0, end = 0;  // bytes of the row inside the tensor
        u64 address = 0;         // of the row's byte `begin`
    };
    std::vector<Row> rows;
};
u64 bytes_of_box(const TensorMapRequest& map) {
    if (map.im2col) return u64{map.im2col->pixels} * map.im2col->channels * element_bytes(map.type);
    u64 bytes = u64{map.box[0]} * element_bytes(map.type);
    for (std::size_t i = 1; i < map.dims.size(); ++i)
        bytes *= (map.box[i] + map.element_strides[i] - 1) / map.element_strides[i];
    return bytes;
}
Box box_of(const TensorMapRequest& map, const s64* start) {
    Box box;
    box.element = element_bytes(map.type);
    box.row = map.box[0] * box.element;
    const std::size_t rank = map.dims.size();
    u64 count[5] = {1, 1, 1, 1, 1};
    u64 rows = 1;
    for (std::size_t i = 1; i < rank; ++i) {
        count[i] = (map.box[i] + map.element_strides[i] - 1) / map.element_strides[i];
        rows *= count[i];
    }
    box.bytes = static_cast<u32>(rows * box.row);
    const s64 low = std::max<s64>(0, -start[0]);
    const s64 high = std::min<s64>(map.box[0], static_cast<s64>(map.dims[0]) - start[0]);
    for (u64 n = 0; n < rows; ++n) {
        Box::Row row;
        row.at = static_cast<u32>(n) * box.row;
        bool inside = low < high;
        u64 rest = n, address = map.address;
        for (std::size_t i = 1; i < rank; ++i) {
            const s64 c = start[i] + static_cast<s64>(rest % count[i] * map.element_strides[i]);
            rest /= count[i];
            inside &= c >= 0 && c < static_cast<s64>(map.dims[i]);
            address += static_cast<u64>(c) * map.strides[i - 1];
        }
        if (inside) {
            row.begin = static_cast<u32>(low) * box.element;
            row.end = static_cast<u32>(high) * box.element;
            row.address = address + static_cast<u64>(start[0] + low) * box.element;
        }
        box.rows.push_back(row);
    }
    return box;
}
// The same for im2col: a row is the channels of one pixel. `start`: C and the first pixel; `offset`: W, H, D.
Box im2col_box_of(const TensorMapRequest& map, const s64* start, const u32* offset) {
    const TensorMapRequest::Im2col& m = *map.im2col;
    Box box;
    box.element = element_bytes(map.type);
    box.row = m.channels * box.element;
    box.bytes = m.pixels * box.row;
    const std::size_t spatial = map.dims.size() - 2;
    const s64 low = std::max<s64>(0, -start[0]);
    const s64 high = std::min<s64>(m.channels, static_cast<s64>(map.dims[0]) - start[0]);
    s64 pixel[4] = {};  // W, (H, (D,)) N
    std::copy_n(start + 1, spatial + 1, pixel);
    for (u32 n = 0; n < m.pixels; ++n) {
        Box::Row row;
        row.at = n * box.row;
        bool inside = low < high;
        u64 address = map.address;
        for (std::size_t i = 0; i <= spatial; ++i) {
            const s64 c = pixel[i] + (i < spatial ? static_cast<s64>(offset[i]) : 0);
            inside &= c >= 0 && c < static_cast<s64>(map.dims[i + 1]);
            address += static_cast<u64>(c) * map.strides[i];
        }
        if (inside) {
            row.begin = static_cast<u32>(low) * box.element;
            row.end = static_cast<u32>(high) * box.element;
            row.address = address + static_cast<u64>(start[0] + low) * box.element;
        }
        box.rows.push_back(row);
        std::size_t i = 0;
        for (; i < spatial; ++i) {
            pixel[i] += map.element_strides[i + 1];
            if (pixel[i] < static_cast<s64>(map.dims[i + 1]) + m.upper[i]) break;
            pixel[i] = m.lower[i];
        }
        if (i == spatial) pixel[spatial] += 1;
    }
    return box;
}
// Four rows of a matrix, from column start[0] on (tile::gather4, tile::scatter4).
Box four_rows_of(const TensorMapRequest& map, const s64* start) {
    TensorMapRequest one = map;
    Box box;
    for (int i = 0; i < 4; ++i) {
        const s64 at[5] = {start[0], start[1 + i]};
        Box row = box_of(one, at);
        row.rows[0].at = static_cast<u32>(i) * row.row;
        row.rows.insert(row.rows.begin(), box.rows.begin(), box.rows.end());
        box = std::move(row);
    }
    box.bytes = 4 * box.row;
    return box;
}
// Calls f(place in the box, bytes) for each run of a row's bytes [begin, end) that stays together in shared
// memory.
template <class F>
void each_run(u32 row, u32 begin, u32 end, bool swizzles, F&& f) {
    while (begin < end) {
        const u32 n = swizzles ? std::min(16 - (row + begin) % 16, end - begin) : end - begin;
        f(row + begin, n);
        begin += n;
    }
}

// sub: 0 load, 1 store; the reduction's operation in sub2, its type the map's. imm 1: im2col; a load then has
// its offsets as the last sources; 2: four rows of a matrix.
void tensor(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        Launch& launch = *w.launch;
        if (launch.stopped) return;
        const bool four = in.imm == 2;
        const int rank = in.vector, map_source = in.sub == 0 ? 2 : 0;
        const int coordinates = four ? 5 : rank, after = map_source + 2 + coordinates;
        TensorMapRequest map;
        if (!read_map(w, in, lane, address_at(w, in, map_source, lane), map)) return;
        if (map.dims.size() != static_cast<std::size_t>(rank)) {
            report(w, "bulk-copy", in, lane,
                   fmt::format("a copy of {} dimensions through a tensor map of {}", rank, map.dims.size()),
                   true);
            return;
        }
        s64 start[5] = {};
        for (int i = 0; i < coordinates; ++i)
            start[i] = static_cast<s32>(static_cast<u32>(lane_value(w, in.source(map_source + 2 + i), lane)));
        const bool im2col = in.imm == 1;
        if (im2col != map.im2col.has_value()) {
            report(w, "bulk-copy", in, lane,
                   im2col ? "an im2col copy through a tensor map that was made for tiles"
                          : "a copy of a tile through a tensor map that was made for im2col",
                   true);
            return;
        }
        u32 offset[3] = {};
        if (im2col && in.sub == 0) {
            const u32 limit = rank == 3 ? 1u << 16 : rank == 4 ? 1u << 8 : 1u << 5;
            for (int i = 0; i < rank - 2; ++i) {
                offset[i] =
                    static_cast<u32>(lane_value(w, in.source(in.sources - (rank - 2) + i), lane)) & 0xffff;
                if (offset[i] < limit) continue;
                report(w, "bulk-copy", in, lane,
                       fmt::format("the im2col offset {}: 0 to {} are possible in {} dimensions", offset[i],
                                   limit - 1, rank),
                       true);
                return;
            }
        }
        if (four && map.box[1] != 1) {
            report(w, "bulk-copy", in, lane,
                   fmt::format("four rows through a tensor map whose box has {} rows: it must have one",
                               map.box[1]),
                   true);
            return;
        }
        const u64 bytes = bytes_of_box(map) * (four ? 4 : 1);
        if (bytes > w.block->shared_bytes) {
            report(w, "bulk-copy", in, lane,
                   fmt::format("the tensor map's box has {} bytes, the block's shared memory {}", bytes,
                               w.block->shared_bytes),
                   true);
            return;
        }
        const Box box = im2col ? im2col_box_of(map, start, offset)
                        : four ? four_rows_of(map, start)
                               : box_of(map, start);
        const bool swizzles = map.swizzle != TensorMapRequest::Swizzle::none;
        launch.surcharge += box.bytes / 512;
        if (in.sub == 1) {
            const Place from =
                shared_place(w, in, lane, address_at(w, in, after, lane), box.bytes, 128, false, false);
            if (!from.home) return;
            std::vector<AsyncStore::Piece> pieces;
            for (const Box::Row& row : box.rows)
                each_run(row.at, row.begin, row.end, swizzles, [&](u32 at, u32 bytes) {
                    pieces.push_back({swizzled(from.at + at, map.swizzle), bytes,
                                      row.address + (at - row.at - row.begin)});
                });
            Reduction reduction;
            if (in.sub2) {
                using Type = TensorMapRequest::Type;
                static constexpr u8 kinds[] = {10, 10, 0, 1, 2, 3, 6, 4, 5, 7};  // of TensorMapRequest::Type
                reduction.active = true;
                reduction.operation = static_cast<u8>(in.sub2 - 1);
                reduction.kind = kinds[static_cast<int>(map.type)];
                reduction.size = static_cast<u8>(box.element);
                reduction.ftz = map.type == Type::f32;
                const bool logical = reduction.operation >= 3 && reduction.operation <= 5;
                const bool floating = reduction.kind >= 4, counts = reduction.operation >= 8;
                if (reduction.kind == 10 || (floating && reduction.operation > 2) ||
                    ((map.type == Type::f32 || map.type == Type::f64) && reduction.operation != 0) ||
                    (counts && map.type != Type::u32) || (logical && floating)) {
                    report(w, "bulk-copy", in, lane,
                           "the reduction does not exist for the element type of the tensor map", true);
                    return;
                }
            }
            store(w, in, lane, std::move(pieces), reduction);
            return;
        }
        Targets targets;
        if (!find_targets(w, in, lane, 0, after, in.has(flag::explicit_count) ? after + 2 : -1, box.bytes,
                          128, targets))
            return;
        // A swizzle may move the last bytes of the box to the other half of their row.
        std::vector<std::byte> image(box.bytes);
        if (map.fill == TensorMapRequest::Fill::nan) {
            const u64 nan = nan_of(map.type);
            for (u32 at = 0; at < box.bytes; at += box.element)
                std::memcpy(image.data() + at, &nan, box.element);
        }
        std::vector<Piece> pieces;
        const auto place_in_image = [&](u32 at) {
            return swizzled(targets.destination + at, map.swizzle) - targets.destination;
        };
        for (const Box::Row& row : box.rows)
            each_run(row.at, row.begin, row.end, swizzles, [&](u32 at, u32 bytes) {
                pieces.push_back({row.address + (at - row.at - row.begin), place_in_image(at), bytes});
            });
        for (const Piece& piece : pieces)
            if (u64{piece.image} + piece.bytes > image.size()) {
                report(w, "bulk-copy", in, lane,
                       fmt::format("the box has {} bytes, and its swizzle moves some of them past its end: a "
                                   "destination at a multiple of {} and whole rows are needed",
                                   box.bytes, 8 * (16u << static_cast<u32>(map.swizzle))),
                       true);
                return;
            }
        deliver(w, in, lane, targets, pieces, std::move(image));
    });
}

// ---- st.bulk ----

void zero(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        const u64 bytes = lane_value(w, in.source(2), lane), from = address_at(w, in, 0, lane);
        constexpr u64 kMost = u64{1} << 24;
        if (bytes % 8 != 0 || bytes > kMost) {
            report(w, "bulk-copy", in, lane,
                   fmt::format("st.bulk of {} bytes: a multiple of 8 up to 2^24 is possible", bytes), true);
            return;
        }
        const u64 value = 0;
        for (u64 at = 0; at < bytes && !w.launch->stopped; at += 8)
            if (!store_lane(w, in, lane, in.space, from + at, 8, &value)) return;
        w.launch->surcharge += bytes / 512;
    });
}

// ---- st.async, red.async ----
// Sources: address, mbarrier, values.
void store_values(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        Launch& launch = *w.launch;
        if (launch.stopped) return;
        const u32 bytes = static_cast<u32>(in.size) * in.vector;
        Targets targets;
        if (!find_targets(w, in, lane, 0, 2, -1, bytes, bytes, targets)) return;
        Block& home = *targets.homes[0];
        AsyncLoad load;
        load.instr = &in;
        load.destination = targets.destination;
        load.barrier = targets.barrier;
        load.reduction = reduction_of(in);
        load.data.resize(bytes);
        for (int v = 0; v < in.vector; ++v) {
            const u64 value = lane_value(w, in.source(4 + v), lane);
            std::memcpy(load.data.data() + v * in.size, &value, in.size);
        }
        if (launch.check_races) {
            load.stamp = races::async_stamp(*w.block, races::mbarrier_agent(home, load.barrier));
            races::async_shared(w, in, lane, home, load.destination, bytes, races::Kind::write, load.stamp,
                                load.reduction.active, false);
        }
        if (launch.count) {
            launch.bulk_requests += 1;
            launch.bulk_load_bytes += bytes;
        }
        if (!launch.stopped) issue(w, lane, home, std::move(load));
    });
}

// ---- tensormap ----

// The object's bytes in memory; null after a fault.
std::byte* map_bytes(Warp& w, const Instr& in, int lane, int source, ptx::Space space, bool is_store) {
    const u64 address = address_at(w, in, source, lane);
    if (space == ptx::Space::shared || (space == ptx::Space::generic && is_shared_window(address))) {
        const Place place =
            shared_place(w, in, lane, address, sizeof(TensorMap), sizeof(TensorMap), false, is_store);
        if (!place.home) return nullptr;
        if (w.launch->check_races) {
            u64 addresses[kLanes] = {};
            addresses[lane] = place.at;
            races::shared_access(w, in, Mask{1} << lane, *place.home, addresses, sizeof(TensorMap),
                                 is_store ? races::Kind::write : races::Kind::read, races::kUnknownData, 0);
        }
        if (is_store) set_bits(place.home->shared_written, place.at, sizeof(TensorMap));
        w.block->writes += is_store;
        return place.home->shared + place.at;
    }
    Buffer* buffer = global_place(w, in, lane, address, sizeof(TensorMap), is_store);
    if (!buffer) return nullptr;
    const u64 offset = address - buffer->address;
    if (is_store && buffer->track_initialised) buffer->mark_written(offset, sizeof(TensorMap));
    w.block->writes += is_store;
    return buffer->data() + offset;
}
void note_changed_map(Warp& w, const Instr& in, int lane, u64 address, bool released) {
    if (is_shared_window(address) || !w.launch->memory->at(address)) return;
    w.block->changed_maps[address] = {in.id, w.index * kLanes + static_cast<u32>(lane), released};
}
void replace(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        if (w.launch->stopped) return;
        std::byte* at = map_bytes(w, in, lane, 0, in.space, true);
        if (!at) return;
        TensorMap map;
        std::memcpy(map.data(), at, sizeof map);
        if (!replace_in_tensor_map(map, static_cast<TensorMapField>(in.sub), static_cast<u32>(in.imm),
                                   lane_value(w, in.source(2), lane))) {
            report(w, "bulk-copy", in, lane,
                   "a value that this field of a tensor map cannot have, or one that is not emulated "
                   "(interleaved "
                   "layouts, .f32.ftz, .tf32)",
                   true);
            return;
        }
        std::memcpy(at, map.data(), sizeof map);
        note_changed_map(w, in, lane, address_at(w, in, 0, lane), false);
    });
}
// All lanes copy the one object: once is enough.
void copy_map(Warp& w, const Instr& in, Mask exec) {
    const int lane = std::countr_zero(exec);
    const std::byte* from = map_bytes(w, in, lane, 2, ptx::Space::shared, false);
    if (!from) return;
    std::byte* to = map_bytes(w, in, lane, 0, ptx::Space::global, true);
    if (!to) return;
    std::memcpy(to, from, sizeof(TensorMap));
    note_changed_map(w, in, lane, address_at(w, in, 0, lane), true);
    if (w.launch->check_races) races::publish_all(w, false);
}

// setmaxnreg: registers are not limited here; what is checked is who executes it (launch/async_copy).
void set_registers(Warp& w, const Instr& in, Mask) {
    w.register_changes += 1;
    w.register_change = &in;
}

const HandlerEntry entries[] = {
    {"bulk.copy", copy},
    {"bulk.commit_group", commit_group},
    {"bulk.wait_group", wait_group},
    {"bulk.zero", zero},
    {"bulk.tensor", tensor},
    {"async.store", store_values},
    {"tensormap.replace", replace},
    {"tensormap.copy", copy_map},
    {"setmaxnreg", set_registers},
};

}  // namespace

HandlerTable bulk_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
