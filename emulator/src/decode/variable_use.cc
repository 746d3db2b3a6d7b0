// Which module variables a program may write. An address is followed through the registers of each function
// without regard to order: loads through it are harmless, stores and atomics through it are writes, and an
// address that is stored or passed on has escaped and counts as written.
#include <map>
#include <set>

#include "emulator/src/decode/decoder.h"

namespace emulator::decode {

namespace {

using Variables = std::set<const ptx::Variable*>;
using Key = std::pair<int, std::uint32_t>;  // register file and number

Key key_of(const ptx::Register& reg) { return {static_cast<int>(ptx::file_of(reg.type)), reg.index}; }

bool is_compilers_own(const ptx::Variable& variable) {  // texts, and the tables of virtual functions
    for (const char* prefix : {"$str", "__unnamed_", "_ZTV", "_ZTI", "_ZTS"})
        if (variable.name.rfind(prefix, 0) == 0) return true;
    return false;
}

// The variables that an operand's value (not what it points to) may be an address of.
void collect(const ptx::Operand& operand, const std::map<Key, Variables>& held, Variables& out) {
    if (const auto* symbol = std::get_if<ptx::Symbol>(&operand.value)) {
        if (symbol->variable) out.insert(symbol->variable);
    } else if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) {
        if (const auto it = held.find(key_of(*reg)); it != held.end())
            out.insert(it->second.begin(), it->second.end());
    } else if (const auto* vector = std::get_if<ptx::Vector>(&operand.value)) {
        for (const ptx::Operand& element : vector->elements) collect(element, held, out);
    }
}
void collect_base(const ptx::Operand& operand, const std::map<Key, Variables>& held, Variables& out) {
    const auto* address = std::get_if<ptx::Address>(&operand.value);
    if (!address) return;
    if (const auto* symbol = std::get_if<ptx::Symbol>(&address->base)) {
        if (symbol->variable) out.insert(symbol->variable);
    } else if (const auto* reg = std::get_if<ptx::Register>(&address->base)) {
        if (const auto it = held.find(key_of(*reg)); it != held.end())
            out.insert(it->second.begin(), it->second.end());
    }
}
bool hold(const ptx::Operand& destination, const Variables& variables, std::map<Key, Variables>& held) {
    bool changed = false;
    if (const auto* reg = std::get_if<ptx::Register>(&destination.value)) {
        Variables& mine = held[key_of(*reg)];
        const std::size_t before = mine.size();
        mine.insert(variables.begin(), variables.end());
        changed = mine.size() != before;
    } else if (const auto* vector = std::get_if<ptx::Vector>(&destination.value)) {
        for (const ptx::Operand& element : vector->elements) changed |= hold(element, variables, held);
    }
    return changed;
}

void visit(const ptx::Function& function, Variables& written) {
    std::map<Key, Variables> held;
    for (bool changed = true; changed;) {
        changed = false;
        for (const ptx::Instruction& in : function.code) {
            const std::string& op = in.opcode;
            if (in.operands.empty()) continue;
            Variables touched;
            if (op == "ld" || op == "ldu" || op == "prefetch" || op == "prefetchu" || op == "bra") continue;
            if (op == "st" || op == "red" || op == "atom" || op == "cp" || op == "wmma" || op == "stmatrix" ||
                op == "call") {
                for (std::size_t i = 0; i < in.operands.size(); ++i) {
                    Variables values;
                    collect(in.operands[i], held, values);
                    for (const ptx::Variable* v : values)
                        if (!is_compilers_own(*v)) written.insert(v);
                    // cp.async and wmma.load read through all but their first address
                    if (op == "wmma" && !in.has("store")) continue;
                    if (op != "cp" || i == 0) collect_base(in.operands[i], held, written);
                }
                continue;
            }
            for (std::size_t i = 1; i < in.operands.size(); ++i) collect(in.operands[i], held, touched);
            if (!touched.empty()) changed |= hold(in.operands[0], touched, held);
        }
    }
}

}  // namespace

std::set<const ptx::Variable*> written_variables(const ptx::Module& module) {
    Variables written;
    for (const ptx::Function& function : module.functions) visit(function, written);
    // an address in another variable's initialiser has escaped
    for (const auto& holder : module.variables)
        for (const ptx::Variable::Relocation& relocation : holder->relocations)
            for (const auto& variable : module.variables)
                if (variable->name == relocation.symbol && !is_compilers_own(*variable))
                    written.insert(variable.get());
    return written;
}

}  // namespace emulator::decode
