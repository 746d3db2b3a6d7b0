#include "emulator/src/tensor/lane_memory.h"

#include "emulator/src/counters/access.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/launch/origins.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {

namespace {

struct Target {
    ptx::Space space = ptx::Space::global;  // global, shared or local
    std::uint64_t at = 0;                   // address, or offset in shared or the thread's local memory
    Buffer* buffer = nullptr;
    std::byte* data = nullptr;
};

// Where an access lands; false after reporting that it must not.
bool resolve(Warp& w, const Instr& in, int lane, ptx::Space space, std::uint64_t address, std::uint32_t bytes,
             bool is_store, Target& target) {
    target.space = space;
    target.at = address;
    if (space == ptx::Space::generic) {
        target.space = is_shared_window(address)  ? ptx::Space::shared
                       : is_local_window(address) ? ptx::Space::local
                                                  : ptx::Space::global;
        if (target.space == ptx::Space::shared) target.at -= kSharedWindow;
        if (target.space == ptx::Space::local) target.at -= kLocalWindow;
    }
    if (target.space == ptx::Space::shared) target.at -= w.block->shared_base;
    const bool aligned = (target.at & (bytes - 1)) == 0;
    if (target.space == ptx::Space::shared) {
        if (target.at > w.block->shared_bytes || bytes > w.block->shared_bytes - target.at) {
            report_bad_shared(w, in, lane, target.at, bytes, is_store);
            return false;
        }
        if (!aligned) {
            report_misaligned(w, in, lane, target.at, bytes, is_store, "shared memory");
            return false;
        }
        target.data = w.block->shared + target.at;
        return true;
    }
    if (target.space == ptx::Space::local) {
        const std::uint64_t limit = w.frame->local_base + w.frame->function->frame_bytes;
        if ((target.at > limit || bytes > limit - target.at) &&
            !is_allocated(w, lane, target.at, static_cast<std::uint32_t>(bytes))) {
            report_bad_local(w, in, lane, target.at, bytes, is_store, limit);
            return false;
        }
        if (!aligned) {
            report_misaligned(w, in, lane, target.at, bytes, is_store, "local memory");
            return false;
        }
        target.data = w.local + static_cast<std::uint64_t>(lane) * w.launch->local_stride + target.at;
        return true;
    }
    target.buffer = w.launch->memory->at(address);
    if (target.buffer == nullptr || !target.buffer->contains(address, bytes) ||
        (is_store && !target.buffer->writable)) {
        report_bad_address(w, in, lane, address, bytes, is_store);
        return false;
    }
    if (!aligned) {
        report_misaligned(w, in, lane, address, bytes, is_store, "global memory");
        return false;
    }
    target.data = target.buffer->data() + (address - target.buffer->address);
    target.buffer->claim(address, bytes, is_store);
    return true;
}

// The bits that say which bytes were written, and where the target's begin; null: all are.
std::uint64_t* written_bits(Warp& w, int lane, const Target& target, std::uint64_t& begin) {
    begin = target.at;
    if (target.space == ptx::Space::shared) return w.block->shared_written;
    if (target.space == ptx::Space::local) {
        begin += static_cast<std::uint64_t>(lane) * w.launch->local_stride;
        return w.local_written;
    }
    begin -= target.buffer->address;
    return target.buffer->track_initialised ? target.buffer->bits() : nullptr;
}

void check_race(Warp& w, const Instr& in, int lane, const Target& target, std::uint32_t bytes,
                races::Kind kind, const void* data) {
    if (!w.launch->check_races) return;
    std::uint64_t addresses[kLanes] = {};
    addresses[lane] = target.at;
    const auto* stored = static_cast<const std::byte*>(data);
    if (target.space == ptx::Space::shared) {
        races::shared_access(w, in, Mask{1} << lane, *w.block, addresses, bytes, kind, stored, 0);
    } else if (target.buffer != nullptr && target.buffer->shadow) {
        races::global_access(w, in, Mask{1} << lane, *target.buffer, addresses, bytes, kind, stored, 0);
    }
}

counters::Shape shape_of(Mask exec, const std::uint64_t* addresses) {
    counters::Shape shape;
    shape.low = ~std::uint64_t{0};
    for_lanes(exec, [&](int lane) {
        shape.low = std::min(shape.low, addresses[lane]);
        shape.high = std::max(shape.high, addresses[lane]);
        shape.any |= addresses[lane];
    });
    shape.equal = shape.low == shape.high;
    return shape;
}

}  // namespace

void lane_addresses(Warp& w, const Instr& in, const Slot& base, Mask exec, std::uint64_t* addresses) {
    auto offset = static_cast<std::uint64_t>(in.imm);
    if (in.has(flag::frame_relative)) offset += w.frame->local_base;
    for_lanes(exec, [&](int lane) {
        addresses[lane] = base.is_wide() ? wide(w, base)[lane] + offset
                                         : narrow(w, base)[lane] + static_cast<std::uint32_t>(offset);
    });
}

bool load_lane(Warp& w, const Instr& in, int lane, ptx::Space space, std::uint64_t address,
               std::uint32_t bytes, void* data, bool* undefined) {
    Target target;
    if (!resolve(w, in, lane, space, address, bytes, false, target)) return false;
    check_race(w, in, lane, target, bytes, races::Kind::read, nullptr);
    if (w.launch->check_initialised && undefined != nullptr) {
        std::uint64_t begin = 0;
        const std::uint64_t* bits = written_bits(w, lane, target, begin);
        *undefined = bits != nullptr && !all_bits(bits, begin, bytes);
    }
    std::memcpy(data, target.data, bytes);
    return !w.launch->stopped;
}

bool store_lane(Warp& w, const Instr& in, int lane, ptx::Space space, std::uint64_t address,
                std::uint32_t bytes, const void* data) {
    Target target;
    if (!resolve(w, in, lane, space, address, bytes, true, target)) return false;
    if (target.space == ptx::Space::local) {
        w.local_changes += 1;
    } else {
        w.block->writes += 1;
    }
    check_race(w, in, lane, target, bytes, races::Kind::write, data);
    if (target.buffer != nullptr && !w.launch->watched.empty()) {
        std::uint64_t addresses[kLanes] = {};
        addresses[lane] = address;
        note_watched(w, in, Mask{1} << lane, addresses, bytes);
    }
    std::memcpy(target.data, data, bytes);
    std::uint64_t begin = 0;
    if (target.buffer != nullptr) {
        if (target.buffer->track_initialised) {
            target.buffer->mark_written(address - target.buffer->address, bytes);
        }
    } else if (w.launch->check_initialised) {
        auto* const bits = written_bits(w, lane, target, begin);  // sets `begin`: before it is read
        set_bits(bits, begin, bytes);
    }
    return !w.launch->stopped;
}

void store_undefined(Warp& w, const Instr& in, int lane, ptx::Space space, std::uint64_t address,
                     std::uint32_t bytes, std::uint32_t origin) {
    Target target;
    if (!resolve(w, in, lane, space, address, bytes, true, target)) return;
    if (target.buffer != nullptr &&
        (!target.buffer->track_initialised || target.buffer->kind != BufferKind::scratch)) {
        report_undefined_use(w, in, lane, origin, "is stored in an output");
        return;
    }
    std::uint64_t begin = 0;
    if (std::uint64_t* bits = written_bits(w, lane, target, begin)) {
        clear_bits(bits, begin, bytes);
        note_stored_undefined(w, bits, begin, bytes, origin);
    }
}

void count_shared(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                  bool store) {
    counters::count_shared(w, in, exec, addresses, bytes, shape_of(exec, addresses), store);
}

void count_global(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                  bool store) {
    const counters::Shape shape = shape_of(exec, addresses);
    Buffer* first = w.launch->memory->at(shape.low);
    Buffer* buffer = first != nullptr && first->contains(shape.high, bytes) ? first : nullptr;
    counters::count_global(w, in, exec, addresses, bytes, shape, buffer, store);
    w.global_loads += !store;
}

}  // namespace emulator::exec
