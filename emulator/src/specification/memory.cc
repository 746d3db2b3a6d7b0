// ld, st, atom, red: addresses, checks, bytes. Lanes that a generic instruction sends to different memories
// are served global first, then shared, then local; a wrong address of any lane stops the launch before
// anything of its memory has happened.
#include <algorithm>

#include "emulator/src/specification/machine.h"
#include "emulator/src/specification/soft_float.h"

namespace emulator::specification {

using ptx::Space;
using ptx::Type;

std::optional<MemoryForm> Machine::memory_form(const Group& g, const ptx::Instruction& in) const {
    MemoryForm form;
    Words words(in);
    const bool load = in.opcode == "ld" || in.opcode == "ldu", store = in.opcode == "st";
    const bool updates = !load && !store;
    form.load = load || updates;
    form.store = store || updates;
    const auto semantics =
        words.take_one_of({"volatile", "relaxed", "acquire", "release", "acq_rel", "weak"});
    if (words.take("mmio")) form.strong = true;
    form.acquire = semantics == "acquire" || semantics == "acq_rel";
    form.release = semantics == "release" || semantics == "acq_rel";
    form.strong |= updates || (semantics && *semantics != "weak");
    const auto scope = words.take_one_of({"cta", "cluster", "gpu", "sys"});
    form.block_scope = scope && (*scope == "cta" || *scope == "cluster");
    const auto space = words.take_one_of(
        {"global", "shared", "shared::cta", "local", "const", "param", "param::entry", "param::func"});
    form.space = !space                        ? Space::generic
                 : *space == "global"          ? Space::global
                 : *space == "local"           ? Space::local
                 : *space == "const"           ? Space::constant
                 : space->starts_with("param") ? Space::param
                                               : Space::shared;
    if (updates) {
        const auto operation =
            words.take_one_of({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
        if (!operation) return std::nullopt;
        form.operation = *operation;
        form.returns = in.opcode == "atom" && !in.operands.empty() &&
                       !std::holds_alternative<ptx::Sink>(in.operands[0].value);
        words.take("noftz");
    } else {
        words.take_one_of({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
        form.non_coherent = words.take("nc");
        words.take("unified");
        words.take_one_of({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
        words.take_one_of({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
                           "L1::no_allocate"});
        words.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
    }
    const std::size_t policy = words.take("L2::cache_hint") ? 1 : 0;  // an operand at the end
    const auto vector = words.take_one_of({"v2", "v4", "v8"});
    const auto type = words.take_type();
    if (!type || !words.empty()) return std::nullopt;
    form.type = *type;
    form.elements = vector ? static_cast<unsigned>((*vector)[1] - '0') : 1;
    form.element_bytes = ptx::size_bytes(*type);
    if (*type == Type::b128) {
        if (vector) return std::nullopt;
        form.is_128 = true;
        form.type = Type::b64;
        form.elements = 2;
        form.element_bytes = 8;
    }
    form.sign_extends = is_signed(*type);
    if (form.element_bytes == 0 || form.element_bytes > 8 || form.bytes() > 32 || *type == Type::pred)
        return std::nullopt;
    if (updates) {
        const bool integer = is_integer(*type) && bits_of(*type) >= 32;
        const bool real = *type == Type::f32 || *type == Type::f64 || *type == Type::f16 ||
                          *type == Type::bf16 || *type == Type::f16x2 || *type == Type::bf16x2;
        const bool half = real && *type != Type::f32 && *type != Type::f64;
        const std::string& op = form.operation;
        const bool known = form.is_128                                ? op == "exch" || op == "cas"
                           : op == "add"                              ? integer || real
                           : op == "min" || op == "max"               ? integer || half
                           : op == "and" || op == "or" || op == "xor" ? integer
                           : op == "exch"                             ? integer
                           : op == "cas"                              ? integer || *type == Type::b16
                                                                      : *type == Type::u32;
        if (!known || (vector && !real)) return std::nullopt;
        if (form.space != Space::generic && form.space != Space::global && form.space != Space::shared)
            return std::nullopt;
        const std::size_t values = op == "cas" ? 2 : 1, first = in.opcode == "red" ? 0 : 1;
        if (in.operands.size() != first + 1 + values + policy) return std::nullopt;
    } else if (in.operands.size() != 2 + policy) {
        return std::nullopt;
    }
    if (form.space == Space::param) {
        const auto* address = std::get_if<ptx::Address>(&in.operands[load ? 1 : 0].value);
        if (!address) return std::nullopt;
        const auto* symbol = std::get_if<ptx::Symbol>(&address->base);
        if (symbol && symbol->variable && is_kernel_parameter(*g.at->function, *symbol->variable)) {
            if (!load) return std::nullopt;
            form.is_argument = true;
        } else if (symbol) {
            if (!symbol->variable || !frame_offset(*g.at->function, *symbol->variable)) return std::nullopt;
            form.space = Space::local;
            form.is_parameter_of_function = true;
        } else if (g.at->function->is_kernel) {
            form.space = Space::global;
        } else {
            form.space = Space::local;
            form.is_parameter_of_function = true;
        }
    }
    return form;
}

bool Machine::memory_access(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    const auto form = memory_form(g, in);
    if (!form) return false;
    const bool updates = form->load && form->store;
    const std::size_t place = in.opcode == "st" || in.opcode == "red" ? 0 : 1;
    const auto* address = std::get_if<ptx::Address>(&in.operands[place].value);
    if (!address || !address->coordinates.empty()) return false;
    // The data's registers.
    const auto each_element = [&](const ptx::Operand& operand, auto&& good) {
        const auto* vector = std::get_if<ptx::Vector>(&operand.value);
        const auto* whole = std::get_if<ptx::Register>(&operand.value);
        if (form->is_128)
            return (whole && whole->type == Type::b128) || std::holds_alternative<ptx::Sink>(operand.value);
        if (whole && whole->type == Type::b128) return false;
        if (!vector) return form->elements == 1 && good(operand);
        return vector->elements.size() == form->elements &&
               std::all_of(vector->elements.begin(), vector->elements.end(), good);
    };
    const auto writes = [&](const ptx::Operand& o) { return writable(o, updates ? form->type : Type::none); };
    const auto reads = [&](const ptx::Operand& o) {
        if (!updates && std::holds_alternative<ptx::Register>(o.value))
            return std::get<ptx::Register>(o.value).type != Type::pred;
        return readable(g, o, form->type);
    };
    if (form->load && in.opcode != "red" && !each_element(in.operands[0], writes)) return false;
    const std::size_t end = in.operands.size() - (in.has("L2::cache_hint") ? 1 : 0);
    for (std::size_t k = place + 1; k < end && form->store; ++k)
        if (!each_element(in.operands[k], reads)) return false;
    // The base.
    const auto* reg = std::get_if<ptx::Register>(&address->base);
    const auto* symbol = std::get_if<ptx::Symbol>(&address->base);
    if (reg && reg->type == Type::pred) return false;
    std::optional<std::uint64_t> in_frame;
    if (symbol && symbol->variable) in_frame = frame_offset(*g.at->function, *symbol->variable);
    if (form->is_argument) {
        const std::uint64_t at = symbol->variable->offset + static_cast<std::uint64_t>(symbol->addend) +
                                 static_cast<std::uint64_t>(address->offset);
        if (at > launch_.arguments.size() || form->bytes() > launch_.arguments.size() - at) return false;
        each_lane(exec, [&](int lane) {
            for (unsigned e = 0; e < form->elements; ++e) {
                Value v;
                for (unsigned b = 0; b < form->element_bytes; ++b)
                    v.bits |= static_cast<std::uint64_t>(launch_.arguments[at + e * form->element_bytes + b])
                              << (8 * b);
                if (form->sign_extends)
                    v.bits = sign_extended(v.bits, static_cast<int>(8 * form->element_bytes));
                write(w, g, lane, element_of(in.operands[0], e), v);
            }
        });
        return true;
    }
    if (!exec) return true;
    if (reg) {
        LaneMask undefined = 0;
        each_lane(exec, [&](int lane) {
            if (slot(*g.at, lane, *reg).undefined) undefined |= LaneMask{1} << lane;
        });
        if (undefined) {
            const int lane = lowest(undefined);
            use_undefined(w, in, lane, origin_for(w, in, slot(*g.at, lane, *reg), lane));
            each_lane(undefined, [&](int l) { slot(*g.at, l, *reg).undefined = 0; });
            if (stopped_) return true;
        }
    }
    std::vector<LaneAccess> global, shared, local;
    each_lane(exec, [&](int lane) {
        std::uint64_t at = static_cast<std::uint64_t>(address->offset);
        if (reg) {
            at += slot(*g.at, lane, *reg).bits;
            if (ptx::file_of(reg->type) == ptx::File::narrow) at = truncated(at, 32);
        } else if (in_frame) {
            at += g.at->local_base + *in_frame + static_cast<std::uint64_t>(symbol->addend);
        } else if (symbol) {
            at += address_of(*g.at->function, *symbol);
        } else {
            at += std::get<ptx::Immediate>(address->base).bits;
        }
        const bool generic = form->space == Space::generic;
        const std::uint64_t window = at >> kSlotShift;
        if (form->space == Space::shared)
            shared.push_back({lane, at});
        else if (form->space == Space::local)
            local.push_back({lane, at});
        else if (generic && window == kSharedWindow >> kSlotShift)
            shared.push_back({lane, at - kSharedWindow});
        else if (generic && !updates && window == kLocalWindow >> kSlotShift)
            local.push_back({lane, at - kLocalWindow});
        else
            global.push_back({lane, at});
    });
    if (!global.empty())
        access_space(w, g, in, *form, global,
                     form->space == Space::constant ? Space::constant : Space::global);
    if (!shared.empty() && !stopped_) access_space(w, g, in, *form, shared, Space::shared);
    if (!local.empty() && !stopped_) access_space(w, g, in, *form, local, Space::local);
    return true;
}

// Says what is wrong with the first lane that has something wrong.
bool Machine::check_addresses(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                              const std::vector<LaneAccess>& lanes, Space space) {
    const std::uint64_t bytes = form.bytes();
    for (const LaneAccess& at : lanes) {
        const char* rule = nullptr;
        const bool misaligned = at.address % bytes != 0;
        if (space == Space::shared || space == Space::local) {
            const ptx::Function& f = *g.at->function;
            const std::uint64_t frame =
                (f.frame_bytes + 15) / 16 * 16 + (f.is_kernel ? 0 : (f.parameter_bytes + 15) / 16 * 16);
            const std::uint64_t size = space == Space::shared ? shared_bytes_ : g.at->local_base + frame;
            if (at.address > size || bytes > size - at.address)
                rule = "out-of-bounds";
            else if (misaligned)
                rule = "misaligned-access";
        } else {
            const Buffer* buffer = memory_.at(at.address);
            if (!buffer || !buffer->contains(at.address, bytes))
                rule =
                    !buffer && at.address < std::uint64_t{1} << kSlotShift ? "null-access" : "out-of-bounds";
            else if (form.load && form.store && !buffer->writable)
                rule = "input-write";
            else if (misaligned)
                rule = "misaligned-access";
            else if (form.store && !buffer->writable)
                rule = "input-write";
        }
        if (!rule) continue;
        report(rule, who(w, in, at.lane), "an address that must not be used", true);
        return false;
    }
    return true;
}

void Machine::access_space(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                           const std::vector<LaneAccess>& lanes, Space space) {
    if (!check_addresses(w, g, in, form, lanes, space)) return;
    const bool updates = form.load && form.store;
    const bool ordered = space == Space::global || space == Space::constant || space == Space::shared;
    const bool is_shared = space == Space::shared;
    if (updates) executed_ += lanes.size();  // they are served one after the other
    if (form.load && form.strong && ordered) {
        polls(w, g, in, lanes, space);
        if (options_.check_races) {
            for (const LaneAccess& at : lanes)
                note_acquire(w, at.lane, at.address, is_shared, form.block_scope);
            if (form.acquire)
                for (const LaneAccess& at : lanes) acquire_pending(number_of(w, at.lane), form.block_scope);
        }
    }
    count_access(w, in, form, lanes, space);
    if (ordered && options_.check_races) record(w, g, in, form, lanes, space);
    if (stopped_) return;
    if (updates) {
        changed_ = false;
        for (const LaneAccess& at : lanes) update(w, g, in, form, at, space);
        block_->changes += changed_;
    } else if (form.load) {
        for (const LaneAccess& at : lanes) load(w, g, in, form, at, space);
    } else {
        if (ordered) block_->changes += 1;
        store(w, g, in, form, lanes, space);
    }
    if (form.store && form.strong && ordered && options_.check_races) {
        if (form.release) {
            LaneMask mask = 0;
            for (const LaneAccess& at : lanes) mask |= LaneMask{1} << at.lane;
            fence(w, mask, false, true, form.block_scope);
        }
        for (const LaneAccess& at : lanes) {
            if (updates) {  // after the lanes before it
                note_acquire(w, at.lane, at.address, is_shared, form.block_scope);
                if (form.acquire) acquire_pending(number_of(w, at.lane), form.block_scope);
            }
            note_release(w, at.lane, at.address, is_shared, form.block_scope);
        }
    }
}

Byte Machine::load_byte(Warp& w, int lane, Space space, std::uint64_t address) const {
    Byte byte;
    if (space == Space::shared) {
        byte = block_->shared[address];
    } else if (space == Space::local) {
        byte = w.local[static_cast<std::size_t>(lane)][address];
    } else {
        const Buffer& b = *memory_.at(address);
        byte.value = static_cast<std::uint8_t>(b.data()[address - b.address]);
        byte.written = !b.track_initialised || b.is_written(address - b.address, 1);
        if (!byte.written)
            if (const auto it = global_origins_.find(address); it != global_origins_.end())
                byte.origin = it->second;
    }
    if (!options_.check_initialised) byte.written = true;
    return byte;
}
void Machine::store_byte(Warp& w, int lane, Space space, std::uint64_t address, const Byte& byte) {
    if (space == Space::shared) {
        block_->shared[address] = byte;
    } else if (space == Space::local) {
        w.local[static_cast<std::size_t>(lane)][address] = byte;
    } else {
        Buffer& b = *memory_.at(address);
        b.data()[address - b.address] = static_cast<std::byte>(byte.value);
        if (!b.track_initialised) return;
        if (byte.written) {
            b.mark_written(address - b.address, 1);
        } else {
            b.mark_unwritten(address - b.address, 1);
            global_origins_[address] = byte.origin;
        }
    }
}

ptx::Operand element_of(const ptx::Operand& operand, unsigned e) {
    if (const auto* vector = std::get_if<ptx::Vector>(&operand.value)) return vector->elements[e];
    ptx::Operand element = operand;
    if (auto* reg = std::get_if<ptx::Register>(&element.value); reg && reg->type == Type::b128) {
        reg->type = Type::b64;
        reg->index += e;
    }
    return element;
}

namespace {
const char* rule_of(const Buffer* buffer) {
    return buffer && buffer->kind == BufferKind::output ? "uninitialised-output-read" : "uninitialised-read";
}
}  // namespace

void Machine::load(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                   const LaneAccess& at, Space space) {
    const bool in_buffer = space == Space::global || space == Space::constant;
    std::vector<Byte> bytes;
    int origin = 0;
    bool undefined = false;
    for (unsigned b = 0; b < form.bytes(); ++b) {
        bytes.push_back(load_byte(w, at.lane, space, at.address + b));
        if (bytes.back().written) continue;
        undefined = true;
        if (!origin) origin = bytes.back().origin;
    }
    if (undefined && !origin)
        origin = new_origin(w, in, at.lane, rule_of(in_buffer ? memory_.at(at.address) : nullptr),
                            "reads memory that nothing has written");
    for (unsigned e = 0; e < form.elements; ++e) {
        Value v;
        for (unsigned b = 0; b < form.element_bytes; ++b) {
            const Byte& byte = bytes[e * form.element_bytes + b];
            v.bits |= std::uint64_t{byte.value} << (8 * b);
            if (!byte.written) v.undefined |= std::uint64_t{0xff} << (8 * b);
        }
        if (form.sign_extends) {
            const int n = static_cast<int>(8 * form.element_bytes);
            v.bits = sign_extended(v.bits, n);
            v.undefined = sign_extended(v.undefined, n);
        }
        v.origin = origin;
        write(w, g, at.lane, element_of(in.operands[0], e), v);
    }
}

void Machine::store(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                    const std::vector<LaneAccess>& lanes, Space space) {
    for (unsigned e = 0; e < form.elements; ++e) {
        bool said = false;
        for (const LaneAccess& at : lanes) {
            const Value v = read(w, g, at.lane, element_of(in.operands[1], e), form.type);
            const std::uint64_t address = at.address + std::uint64_t{e} * form.element_bytes;
            const Buffer* buffer = space == Space::global ? memory_.at(address) : nullptr;
            const bool output = buffer && !(buffer->track_initialised && buffer->kind == BufferKind::scratch);
            const std::uint64_t undefined = truncated(v.undefined, static_cast<int>(8 * form.element_bytes));
            int origin = 0;
            if (undefined && !(output && said)) origin = origin_for(w, in, v, at.lane);
            for (unsigned b = 0; b < form.element_bytes; ++b) {
                Byte byte;
                byte.value = static_cast<std::uint8_t>(v.bits >> (8 * b));
                byte.written = output || ((undefined >> (8 * b)) & 0xff) == 0;
                byte.origin = byte.written ? 0 : origin;
                store_byte(w, at.lane, space, address + b, byte);
            }
            if (undefined && output && !said) {
                said = true;
                use_undefined(w, in, at.lane, origin);
            }
        }
    }
}

namespace {

Format format_of(Type type) {
    return type == Type::f64                          ? kDouble
           : type == Type::f32                        ? kSingle
           : type == Type::f16 || type == Type::f16x2 ? kHalf
                                                      : kBfloat;
}
// "atom.add.f32 on global memory flushes subnormal inputs and results"; every other addition does not.
std::uint64_t float_sum(std::uint64_t a, std::uint64_t b, Type type, bool flushes) {
    const Format f = format_of(type);
    if (type == Type::f16x2 || type == Type::bf16x2) {
        const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
        return float_sum(truncated(a, 16), truncated(b, 16), half, false) |
               float_sum(a >> 16, b >> 16, half, false) << 16;
    }
    const auto flushed = [&](std::uint64_t x) { return flushes && is_subnormal(x, f) ? x & sign_bit(f) : x; };
    const Number sum = add(decode(flushed(a), f), decode(flushed(b), f), Rounding::nearest_even);
    if (sum.kind == Number::Kind::nan && f.width == 64) {
        constexpr std::uint64_t quiet = std::uint64_t{1} << 51;
        return is_nan(a, f) ? a | quiet : is_nan(b, f) ? b | quiet : 0xfff8000000000000ull;
    }
    return flushed(encode(sum, f, Rounding::nearest_even));
}
std::uint64_t float_extreme(std::uint64_t a, std::uint64_t b, Type type, bool maximum) {
    const Format f = format_of(type);
    const auto one = [&](int at) {
        return smaller(truncated(a >> at, 16), truncated(b >> at, 16), maximum, false, f) << at;
    };
    return one(0) | (bits_of(type) == 32 ? one(16) : 0);
}
std::uint64_t updated(const std::string& op, Type type, std::uint64_t old, std::uint64_t b, bool global) {
    const int n = bits_of(type);
    const auto less = [&](std::uint64_t x, std::uint64_t y) {
        if (!is_signed(type)) return x < y;
        return static_cast<std::int64_t>(sign_extended(x, n)) <
               static_cast<std::int64_t>(sign_extended(y, n));
    };
    if (op == "add") return is_integer(type) ? old + b : float_sum(old, b, type, global && type == Type::f32);
    if (!is_integer(type) && (op == "min" || op == "max")) return float_extreme(old, b, type, op == "max");
    if (op == "min") return less(b, old) ? b : old;
    if (op == "max") return less(old, b) ? b : old;
    if (op == "and") return old & b;
    if (op == "or") return old | b;
    if (op == "xor") return old ^ b;
    if (op == "exch") return b;
    if (op == "inc") return old >= b ? 0 : old + 1;
    return old == 0 || old > b ? b : old - 1;  // dec
}

}  // namespace

void Machine::update(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                     const LaneAccess& at, Space space) {
    const std::size_t place = in.opcode == "red" ? 0 : 1;
    const int n = static_cast<int>(8 * form.element_bytes);
    const Buffer* buffer = space == Space::shared ? nullptr : memory_.at(at.address);
    bool unwritten = false;
    for (unsigned b = 0; b < form.bytes(); ++b)
        unwritten |= !load_byte(w, at.lane, space, at.address + b).written;
    const bool exchanges = form.operation == "exch";
    if (unwritten && !exchanges) {
        if (!known(rule_of(buffer), in, nullptr))
            report(rule_of(buffer), who(w, in, at.lane), "updates memory that nothing has written", false);
        if (stopped_) return;
    }
    // An undefined operand leaves something undefined behind.
    int stored_origin = 0;
    bool stores_undefined = false;
    std::vector<std::uint64_t> old(form.elements), fresh(form.elements);
    bool equal = true;  // cas: to what is compared
    for (unsigned e = 0; e < form.elements; ++e) {
        for (unsigned b = 0; b < form.element_bytes; ++b)
            old[e] |=
                std::uint64_t{load_byte(w, at.lane, space, at.address + e * form.element_bytes + b).value}
                << (8 * b);
        std::uint64_t values[2] = {};
        for (std::size_t k = 0; k < (form.operation == "cas" ? 2u : 1u); ++k) {
            const Value v = read(w, g, at.lane, element_of(in.operands[place + 1 + k], e), form.type);
            values[k] = truncated(v.bits, n);
            if (!truncated(v.undefined, n)) continue;
            stores_undefined = true;
            stored_origin = origin_for(w, in, v, at.lane);
            const bool kept = !buffer || (buffer->track_initialised && buffer->kind == BufferKind::scratch);
            if (!kept) use_undefined(w, in, at.lane, stored_origin);
        }
        equal &= old[e] == values[0];
        fresh[e] =
            form.operation == "cas"
                ? values[1]
                : truncated(updated(form.operation, form.type, old[e], values[0], space != Space::shared), n);
    }
    if (form.operation == "cas" && !equal) fresh = old;
    const bool kept = !buffer || (buffer->track_initialised && buffer->kind == BufferKind::scratch);
    if (fresh != old) changed_ = true;
    for (unsigned b = 0; b < form.bytes(); ++b) {
        Byte byte;
        byte.value =
            static_cast<std::uint8_t>(fresh[b / form.element_bytes] >> (8 * (b % form.element_bytes)));
        byte.written = !(stores_undefined && kept);
        byte.origin = byte.written ? 0 : stored_origin;
        store_byte(w, at.lane, space, at.address + b, byte);
    }
    if (!form.returns) return;
    for (unsigned e = 0; e < form.elements; ++e) {
        Value v;
        v.bits = old[e];
        if (unwritten && exchanges && options_.check_initialised) {
            v.undefined = ~std::uint64_t{0};
            v.origin = new_origin(w, in, at.lane, rule_of(buffer), "reads memory that nothing has written");
        }
        write(w, g, at.lane, element_of(in.operands[0], e), v);
    }
}

void Machine::polls(Warp& w, Group& g, const ptx::Instruction& in, const std::vector<LaneAccess>& lanes,
                    Space space) {
    g.polls += 1;
    w.poll_count += 1;
    w.last_poll_lane = lanes.front().lane;
    w.polls_shared = space == Space::shared;
    w.awaited.reset();
    const std::uint64_t address = lanes.front().address;
    const bool again = std::find(w.polled.begin(), w.polled.end(), address) != w.polled.end();
    if (!again) w.polled[w.polled_next++ % w.polled.size()] = address;
    w.polls_in_vain = again && w.last_poll == &in && w.polled_changes == block_->changes;
    w.polled_changes = block_->changes;
    w.last_poll = &in;
}

}  // namespace emulator::specification
