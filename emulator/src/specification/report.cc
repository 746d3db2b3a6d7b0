// Faults: one per rule and pair of places, with how often it happened.
#include "emulator/src/specification/machine.h"

namespace emulator::specification {

// What makes two instructions one place: the source line, or being the same one.
std::pair<std::uint64_t, std::uint64_t> Machine::identity(const ptx::Instruction& in) const {
    const auto two = [](std::int32_t a, std::int32_t b) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
               static_cast<std::uint32_t>(b);
    };
    if (in.source.line > 0)
        return {two(in.source.file, in.source.line), two(in.source.outer_file, in.source.outer_line)};
    return {~std::uint64_t{0}, reinterpret_cast<std::uintptr_t>(&in)};
}

Who Machine::who(const Warp& w, const ptx::Instruction& in, int lane) const {
    return {&in, block_->linear, w.index * kWarpSize + static_cast<std::uint32_t>(lane)};
}
Dim3 Machine::thread_index(std::uint32_t t) const {
    const Dim3& b = launch_.block;
    return {t % b.x, t / b.x % b.y, t / b.x / b.y};
}
Dim3 Machine::block_index(std::uint64_t n) const {
    const Dim3& g = launch_.grid;
    return {static_cast<std::uint32_t>(n % g.x), static_cast<std::uint32_t>(n / g.x % g.y),
            static_cast<std::uint32_t>(n / g.x / g.y)};
}

// Two places are one fault whichever of them came second.
bool Machine::known(const char* rule, const ptx::Instruction& a, const ptx::Instruction* b) {
    auto x = identity(a),
         y = b ? identity(*b) : std::pair<std::uint64_t, std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0}};
    if (y < x) std::swap(x, y);
    const auto it = faults_.find({rule, {x, y}});
    if (it == faults_.end()) return false;
    outcome_.faults[it->second].occurrences += 1;
    return true;
}

void Machine::report(const char* rule, const Who& who, std::string message, bool fatal, const Who* other) {
    if (fatal) stopped_ = true;
    if (known(rule, *who.instruction, other ? other->instruction : nullptr)) return;
    if (outcome_.faults.size() >= options_.max_faults) {
        stopped_ = true;
        return;
    }
    Fault fault;
    fault.rule = rule;
    fault.kernel = launch_.kernel;
    fault.place = ptx::place_of(module_, *who.instruction);
    fault.message = std::move(message);
    fault.block = block_index(who.block);
    fault.thread = thread_index(who.thread);
    if (other) {
        Fault::Party party;
        party.place = ptx::place_of(module_, *other->instruction);
        party.block = block_index(other->block);
        party.thread = thread_index(other->thread);
        fault.other = std::move(party);
    }
    auto x = identity(*who.instruction),
         y = other ? identity(*other->instruction)
                   : std::pair<std::uint64_t, std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0}};
    if (y < x) std::swap(x, y);
    faults_[{rule, {x, y}}] = outcome_.faults.size();
    outcome_.faults.push_back(std::move(fault));
    if (outcome_.faults.size() >= options_.max_faults) stopped_ = true;
}

}  // namespace emulator::specification
