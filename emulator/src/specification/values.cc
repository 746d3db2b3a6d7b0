// Operands and registers, moves, and instructions that compute from one thread's registers alone.
#include <bit>
#include <cstdlib>

#include "emulator/src/specification/machine.h"

namespace emulator::specification {

using ptx::Type;

namespace {
bool inside(const std::vector<ptx::Variable>& list, const ptx::Variable& v) {
    for (const ptx::Variable& each : list)
        if (&each == &v) return true;
    return false;
}
std::uint64_t width_mask(const ptx::Register& reg) {
    return reg.type == Type::pred ? 1 : truncated(~std::uint64_t{0}, bits_of(reg.type));
}
}  // namespace

Value& Machine::slot(Activation& a, int lane, const ptx::Register& reg) {
    const auto i = static_cast<std::size_t>(lane);
    switch (ptx::file_of(reg.type)) {
        case ptx::File::narrow:
            return a.narrow[i][reg.index];
        case ptx::File::wide:
            return a.wide[i][reg.index];
        case ptx::File::predicate:
            break;
    }
    return a.predicates[i][reg.index];
}

std::optional<std::uint64_t> Machine::frame_offset(const ptx::Function& f, const ptx::Variable& v) const {
    if (inside(f.locals, v)) return v.offset;
    if (!f.is_kernel && (inside(f.parameters, v) || inside(f.returns, v)))
        return (f.frame_bytes + 15) / 16 * 16 + v.offset;
    return std::nullopt;
}
bool Machine::is_kernel_parameter(const ptx::Function& f, const ptx::Variable& v) const {
    return f.is_kernel && inside(f.parameters, v);
}
// Of anything but a variable of the frame.
std::uint64_t Machine::address_of(const ptx::Function& f, const ptx::Symbol& symbol) const {
    const auto addend = static_cast<std::uint64_t>(symbol.addend);
    if (!symbol.variable) return kFunctionAddress + static_cast<std::uint64_t>(symbol.function) + addend;
    const ptx::Variable& v = *symbol.variable;
    if (is_kernel_parameter(f, v)) return parameters_->address + v.offset + addend;
    if (v.space == ptx::Space::shared)
        return (v.is_extern ? kernel_->dynamic_shared_offset : v.offset) + addend;
    for (std::size_t i = 0; i < module_.variables.size(); ++i)
        if (module_.variables[i].get() == &v) return (variables_[i] ? variables_[i]->address : 0) + addend;
    return addend;
}

bool Machine::readable(const Group& g, const ptx::Operand& operand, Type type) const {
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) {
        if (operand.negated && reg->type != Type::pred) return false;
        return type == Type::none || ptx::file_of(reg->type) == ptx::file_of(type);
    }
    if (std::holds_alternative<ptx::Immediate>(operand.value)) return true;
    if (const auto* symbol = std::get_if<ptx::Symbol>(&operand.value))
        return type != Type::pred && (!symbol->variable ? symbol->function >= 0
                                                        : !frame_offset(*g.at->function, *symbol->variable));
    return false;
}
bool Machine::writable(const ptx::Operand& operand, Type type) const {
    if (std::holds_alternative<ptx::Sink>(operand.value)) return true;
    const auto* reg = std::get_if<ptx::Register>(&operand.value);
    return reg && (type == Type::none || ptx::file_of(reg->type) == ptx::file_of(type));
}

Value Machine::read(Warp& w, const Group& g, int lane, const ptx::Operand& operand, Type type) {
    (void)w;
    Value v;
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) {
        v = slot(*g.at, lane, *reg);
        if (operand.negated) v.bits ^= 1;
        return v;
    }
    if (const auto* immediate = std::get_if<ptx::Immediate>(&operand.value)) {
        v.bits = immediate->bits;
        if (type == Type::pred) {
            v.bits = (immediate->bits != 0) != operand.negated;
        } else if (immediate->is_float && !immediate->is_double && type == Type::f64) {
            v.bits = std::bit_cast<std::uint64_t>(
                static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(immediate->bits))));
        } else if (immediate->is_double && type != Type::f64 && type != Type::b64) {
            v.bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(immediate->bits)));
        } else if (!immediate->is_float && (type == Type::f32 || type == Type::f64)) {
            const auto real = static_cast<double>(static_cast<std::int64_t>(immediate->bits));
            v.bits = type == Type::f64 ? std::bit_cast<std::uint64_t>(real)
                                       : std::bit_cast<std::uint32_t>(static_cast<float>(real));
        }
        if (type != Type::pred) v.bits = truncated(v.bits, type == Type::none ? 64 : bits_of(type));
        return v;
    }
    if (const auto* symbol = std::get_if<ptx::Symbol>(&operand.value))
        v.bits = address_of(*g.at->function, *symbol);
    return v;
}

// `part`: 1 is the upper half of a 128-bit register.
void Machine::write(Warp& w, const Group& g, int lane, const ptx::Operand& operand, Value value,
                    std::size_t part) {
    (void)w;
    const auto* reg = std::get_if<ptx::Register>(&operand.value);
    if (!reg) return;  // the sink
    if (reg->type == Type::b128) {
        g.at->wide[static_cast<std::size_t>(lane)][reg->index + part] = value;
        return;
    }
    value.bits &= width_mask(*reg);
    if (reg->type == Type::pred) value.undefined = value.undefined != 0;
    value.undefined &= width_mask(*reg);
    slot(*g.at, lane, *reg) = value;
}

std::optional<std::uint64_t> Machine::special(Warp& w, const ptx::Special& s, int lane) const {
    const auto component = [&](const Dim3& d) {
        return std::uint64_t{s.component == 0 ? d.x : s.component == 1 ? d.y : d.z};
    };
    const std::uint64_t bit = std::uint64_t{1} << lane;
    const std::string& name = s.name;
    if (s.component > 2) return std::nullopt;
    if (name == "tid") return component(thread_index(w.index * kWarpSize + static_cast<std::uint32_t>(lane)));
    if (name == "ntid") return component(launch_.block);
    if (name == "ctaid" || name == "clusterid") return component(block_->index);
    if (name == "nctaid" || name == "nclusterid") return component(launch_.grid);
    if (name == "cluster_ctaid" || name == "cluster_ctarank" || name == "is_explicit_cluster") return 0;
    if (name == "cluster_nctaid" || name == "cluster_nctarank") return 1;
    if (name == "laneid") return static_cast<std::uint64_t>(lane);
    if (name == "warpid") return w.index;
    if (name == "nwarpid") return warps_;
    if (name == "smid") return block_->linear % options_.limits.sm_count;
    if (name == "nsmid") return options_.limits.sm_count;
    if (name == "gridid") return 1;
    if (name == "lanemask_eq") return bit;
    if (name == "lanemask_lt") return bit - 1;
    if (name == "lanemask_le") return 2 * bit - 1;
    if (name == "lanemask_gt") return truncated(~(2 * bit - 1), 32);
    if (name == "lanemask_ge") return truncated(~(bit - 1), 32);
    if (name == "total_smem_size") return shared_bytes_;
    if (name == "dynamic_smem_size") return launch_.dynamic_shared;
    return std::nullopt;
}

const std::optional<Operation>& Machine::operation(const ptx::Instruction& in) {
    const auto [it, added] = operations_.try_emplace(&in);
    if (added) it->second = operation_of(in);
    return it->second;
}

// With no lanes: says only whether the instruction is known.
bool Machine::move(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    Words words(in);
    const auto type = words.take_type();
    if (!type || !words.empty() || in.operands.size() != 2) return false;
    const ptx::Operand &to = in.operands[0], &from = in.operands[1];
    const auto* from_vector = std::get_if<ptx::Vector>(&from.value);
    const auto* to_vector = std::get_if<ptx::Vector>(&to.value);
    if (const auto* s = std::get_if<ptx::Special>(&from.value)) {
        if (!special(w, *s, 0) || to_vector || *type == Type::pred) return false;
        each_lane(exec, [&](int lane) { write(w, g, lane, to, {*special(w, *s, lane), 0, 0}); });
        return writable(to, Type::none);
    }
    // Two halves of a 128-bit register, or a pair of 64-bit ones.
    if (*type == Type::b128) {
        const auto half = [&](int lane, std::size_t k) {
            if (from_vector) return read(w, g, lane, from_vector->elements[k], Type::b64);
            ptx::Register reg = std::get<ptx::Register>(from.value);
            reg.type = Type::b64;
            reg.index += static_cast<std::uint32_t>(k);
            return slot(*g.at, lane, reg);
        };
        for (const auto* operand : {&to, &from}) {
            const auto* vector = std::get_if<ptx::Vector>(&operand->value);
            const auto* reg = std::get_if<ptx::Register>(&operand->value);
            if (vector) {
                if (vector->elements.size() != 2) return false;
                for (const ptx::Operand& e : vector->elements) {
                    const auto* each = std::get_if<ptx::Register>(&e.value);
                    if (!each || ptx::file_of(each->type) != ptx::File::wide || each->type == Type::b128)
                        return false;
                }
            } else if (!reg || reg->type != Type::b128) {
                return false;
            }
        }
        each_lane(exec, [&](int lane) {
            const Value low = half(lane, 0), high = half(lane, 1);
            write(w, g, lane, to_vector ? to_vector->elements[0] : to, low, 0);
            write(w, g, lane, to_vector ? to_vector->elements[1] : to, high, 1);
        });
        return true;
    }
    if (from_vector || to_vector) {
        if (from_vector && to_vector) return false;
        const auto& elements = (from_vector ? from_vector : to_vector)->elements;
        const int all = bits_of(*type), n = elements.empty() ? 0 : all / static_cast<int>(elements.size());
        if (n != 8 && n != 16 && n != 32) return false;
        for (const ptx::Operand& e : elements) {
            const auto* reg = std::get_if<ptx::Register>(&e.value);
            if (reg && (reg->type == Type::pred || bits_of(reg->type) != n)) return false;
            if (!reg && !(to_vector ? std::holds_alternative<ptx::Sink>(e.value)
                                    : std::holds_alternative<ptx::Immediate>(e.value)))
                return false;
        }
        if (to_vector ? !readable(g, from, *type) : !writable(to, *type)) return false;
        each_lane(exec, [&](int lane) {
            if (from_vector) {
                Value whole;
                for (std::size_t k = 0; k < elements.size(); ++k) {
                    const Value e = read(w, g, lane, elements[k], n == 32 ? Type::b32 : Type::b16);
                    const int at = n * static_cast<int>(k);
                    whole.bits |= truncated(e.bits, n) << at;
                    if (truncated(e.undefined, n) && !whole.undefined) whole.origin = e.origin;
                    whole.undefined |= truncated(e.undefined, n) << at;
                }
                write(w, g, lane, to, whole);
                return;
            }
            const Value whole = read(w, g, lane, from, *type);
            for (std::size_t k = 0; k < elements.size(); ++k) {
                const int at = n * static_cast<int>(k);
                write(w, g, lane, elements[k],
                      {truncated(whole.bits >> at, n), truncated(whole.undefined >> at, n), whole.origin});
            }
        });
        return true;
    }
    if (!writable(to, *type)) return false;
    if (const auto* symbol = std::get_if<ptx::Symbol>(&from.value); symbol && symbol->variable)
        if (const auto at = frame_offset(*g.at->function, *symbol->variable)) {
            if (!is_integer(*type)) return false;
            each_lane(exec, [&](int lane) {
                write(w, g, lane, to,
                      {g.at->local_base + *at + static_cast<std::uint64_t>(symbol->addend), 0, 0});
            });
            return true;
        }
    if (!readable(g, from, *type)) return false;
    each_lane(exec, [&](int lane) { write(w, g, lane, to, read(w, g, lane, from, *type)); });
    return true;
}

bool Machine::convert_address(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    Words words(in);
    const bool asks = in.opcode == "isspacep", back = words.take("to");
    const auto space =
        words.take_one_of({"global", "shared", "shared::cta", "local", "const", "param", "param::entry"});
    if (!space || in.operands.size() != 2) return false;
    const bool shared = space->starts_with("shared"), local = *space == "local";
    if (asks) {
        if (back || !words.empty() || !readable(g, in.operands[1], Type::u64) ||
            !writable(in.operands[0], Type::pred))
            return false;
        each_lane(exec, [&](int lane) {
            const Value a = read(w, g, lane, in.operands[1], Type::u64);
            const std::uint64_t window = a.bits >> kSlotShift;
            const Buffer* b = memory_.at(a.bits);
            const bool in_shared = window == kSharedWindow >> kSlotShift,
                       in_local = window == kLocalWindow >> kSlotShift,
                       in_constant = b && b->role == Buffer::Role::constant_variable,
                       in_parameters = b && b->role == Buffer::Role::parameters;
            Value p;
            p.bits = shared                        ? in_shared
                     : local                       ? in_local
                     : *space == "const"           ? in_constant
                     : space->starts_with("param") ? in_parameters
                                                   : !in_shared && !in_local && !in_constant;
            if (a.undefined) {
                p.undefined = 1;
                p.origin = origin_for(w, in, a, lane);
            }
            write(w, g, lane, in.operands[0], p);
        });
        return true;
    }
    if (words.take_type() != Type::u64 || !words.empty() || !readable(g, in.operands[1], Type::u64) ||
        !writable(in.operands[0], Type::u64))
        return false;
    const std::uint64_t window = shared ? kSharedWindow : local ? kLocalWindow : 0;
    each_lane(exec, [&](int lane) {
        Value a = read(w, g, lane, in.operands[1], Type::u64);
        a.bits = back ? a.bits - window : a.bits + window;
        write(w, g, lane, in.operands[0], a);
    });
    return true;
}

bool Machine::plain(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    const std::string& op = in.opcode;
    if (op == "mov") return move(w, g, in, exec);
    if (op == "cvta" || op == "isspacep") return convert_address(w, g, in, exec);
    if (op == "ld" || op == "ldu" || op == "st" || op == "atom" || op == "red")
        return memory_access(w, g, in, exec);
    if (op == "prefetch" || op == "prefetchu" || op == "pmevent" || op == "applypriority" ||
        op == "discard" || op == "griddepcontrol")
        return true;
    if (op == "activemask") {
        if (in.operands.size() != 1 || !writable(in.operands[0], Type::b32)) return false;
        each_lane(exec, [&](int lane) { write(w, g, lane, in.operands[0], {exec, 0, 0}); });
        return true;
    }
    if (op == "cp") return asynchronous_copy(w, g, in, exec);
    if (op == "mbarrier") return mbarrier(w, g, in, exec);
    if (op == "createpolicy") {  // opaque; only hints take it
        if (in.operands.empty() || !writable(in.operands[0], Type::b64)) return false;
        each_lane(exec, [&](int lane) { write(w, g, lane, in.operands[0], {}); });
        return true;
    }
    if (op == "membar" || op == "fence") {
        Words words(in);
        if (words.take(
                "proxy")) {  // of the proxies only the async one could matter, and nothing here uses it
            const bool async = words.take("async"), alias = words.take("alias");
            words.take_one_of({"global", "shared::cta", "shared::cluster"});
            return async != alias && words.empty();
        }
        const bool made = words.take("mbarrier_init");
        words.take_one_of({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
        const auto semantics = words.take_one_of({"sc", "acq_rel", "acquire", "release"});
        if (made && semantics != "release") return false;
        const auto scope = words.take_one_of({"cta", "cluster", "gpu", "sys", "gl"});
        if (!scope || !words.empty()) return false;
        if (exec && options_.check_races)
            fence(w, exec, semantics != "release", semantics != "acquire",
                  *scope == "cta" || *scope == "cluster");
        return true;
    }
    const auto& o = operation(in);
    if (!o || in.operands.size() != 1 + o->sources.size()) return false;
    const ptx::Operand& to = in.operands[0];
    const bool only_second = std::holds_alternative<ptx::Sink>(to.value) && to.pair && !o->may_drop_the_first;
    if (!writable(to, o->destination) || only_second || (to.pair && o->destinations != 2)) return false;
    std::vector<ptx::Operand> from(in.operands.begin() + 1, in.operands.end());
    if (o->negates_itself)
        for (ptx::Operand& operand : from) operand.negated = false;
    for (std::size_t k = 0; k < o->sources.size(); ++k)
        if (!readable(g, from[k], o->sources[k])) return false;
    each_lane(exec, [&](int lane) {
        std::vector<Value> sources;
        for (std::size_t k = 0; k < o->sources.size(); ++k)
            sources.push_back(read(w, g, lane, from[k], o->sources[k]));
        Value& carry = g.at->carry[static_cast<std::size_t>(lane)];
        if (o->reads_carry) sources.push_back(carry);
        std::array<std::uint64_t, 6> s{};
        int origin = 0;
        for (std::size_t k = 0; k < sources.size(); ++k) {
            s[k] = sources[k].bits;
            if (sources[k].undefined && !origin)
                origin = op == "selp" ? sources[k].origin : origin_for(w, in, sources[k], lane);
        }
        std::uint64_t d[2] = {};
        o->compute(s.data(), d);
        const std::size_t results = o->destinations == 2 || o->writes_carry ? 2 : 1;
        for (std::size_t k = 0; k < results; ++k) {
            Value v;
            v.bits = d[k];
            v.undefined = undefined_result(in, sources, results, k);
            v.origin = v.undefined ? origin : 0;
            if (k == 1 && o->writes_carry) {
                v.undefined &= 1;
                carry = v;
            } else if (k == 1) {
                ptx::Operand other;
                other.value = *to.pair;
                write(w, g, lane, other, v);
            } else {
                const int n = bits_of(o->destination);
                if (o->destination != Type::pred) {
                    const bool extends = op == "cvt" && is_signed(o->destination);
                    v.bits = extends ? sign_extended(v.bits, n) : truncated(v.bits, n);
                }
                write(w, g, lane, to, v);
            }
        }
    });
    return true;
}

}  // namespace emulator::specification
