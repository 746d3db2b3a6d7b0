// Where static shared variables lie. A module may hold several kernels whose variables never live at the same
// time, and one variable may be reached by several kernels (through device functions), while a variable has
// one offset. So variables are placed one after another, each at the lowest aligned offset where it overlaps
// none of those placed before that some kernel reaches together with it. A module with one kernel, or with
// kernels that share nothing, gets what a linker would give: each kernel's variables packed from zero.
//
// A kernel reaches what its code mentions, what the functions mentioned there mention, and the functions and
// variables whose addresses initialise a variable that it reaches (tables of function pointers).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "emulator/src/ptx/parser.h"

namespace emulator::ptx {

namespace {

constexpr std::size_t max_shared_variables = 4096;

struct Mentions {
    std::vector<std::int32_t> functions;
    std::vector<const Variable*> variables;
};

void collect(const Operand& operand, Mentions& mentions) {
    const auto take = [&](const Symbol& symbol) {
        if (symbol.variable != nullptr) {
            mentions.variables.push_back(symbol.variable);
        } else if (symbol.function >= 0) {
            mentions.functions.push_back(symbol.function);
        }
    };
    if (const auto* symbol = std::get_if<Symbol>(&operand.value)) {
        take(*symbol);
    } else if (const auto* address = std::get_if<Address>(&operand.value)) {
        if (const auto* base = std::get_if<Symbol>(&address->base)) take(*base);
    } else if (const auto* vector = std::get_if<Vector>(&operand.value)) {
        for (const Operand& element : vector->elements) collect(element, mentions);
    }
}

template <class T>
void make_unique(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

bool lay_out_shared(Module& module, std::string& message) {
    std::vector<Variable*> shared;
    for (const auto& variable : module.variables) {
        if (variable->space == Space::shared) shared.push_back(variable.get());
    }
    if (shared.size() > max_shared_variables) {
        message = "the module has more shared variables than can be laid out";
        return false;
    }
    std::vector<Mentions> of_function(module.functions.size());
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
        for (const Instruction& instruction : module.functions[i].code) {
            for (const Operand& operand : instruction.operands) collect(operand, of_function[i]);
            for (const Operand& operand : instruction.call_arguments) collect(operand, of_function[i]);
        }
        make_unique(of_function[i].functions);
        make_unique(of_function[i].variables);
    }
    std::unordered_map<std::string_view, const Variable*> variables;
    std::unordered_map<std::string_view, std::int32_t> functions;
    for (const auto& variable : module.variables) variables.emplace(variable->name, variable.get());
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
        functions.emplace(module.functions[i].name, static_cast<std::int32_t>(i));
    }

    std::unordered_map<const Variable*, std::vector<std::size_t>> kernels_of;  // of static shared variables
    for (std::size_t kernel = 0; kernel < module.functions.size(); ++kernel) {
        if (!module.functions[kernel].is_kernel) continue;
        std::unordered_set<std::int32_t> seen_functions{static_cast<std::int32_t>(kernel)};
        std::unordered_set<const Variable*> seen;
        std::vector<std::int32_t> work{static_cast<std::int32_t>(kernel)};
        std::vector<const Variable*> data;
        while (!work.empty() || !data.empty()) {
            if (!work.empty()) {
                const Mentions& mentions = of_function[static_cast<std::size_t>(work.back())];
                work.pop_back();
                for (const std::int32_t f : mentions.functions) {
                    if (seen_functions.insert(f).second) work.push_back(f);
                }
                for (const Variable* v : mentions.variables) {
                    if (seen.insert(v).second) data.push_back(v);
                }
                continue;
            }
            const Variable* variable = data.back();
            data.pop_back();
            for (const Variable::Relocation& relocation : variable->relocations) {
                if (const auto f = functions.find(relocation.symbol); f != functions.end()) {
                    if (seen_functions.insert(f->second).second) work.push_back(f->second);
                } else if (const auto v = variables.find(relocation.symbol); v != variables.end()) {
                    if (seen.insert(v->second).second) data.push_back(v->second);
                }
            }
        }
        for (const Variable* variable : shared) {  // in the text's order
            if (!seen.contains(variable)) continue;
            module.functions[kernel].shared.push_back(variable);
            if (!variable->is_extern) kernels_of[variable].push_back(kernel);
        }
    }

    std::vector<std::vector<const Variable*>> placed(module.functions.size());
    for (Variable* owned : shared) {
        Variable& variable = *owned;
        if (variable.is_extern) continue;
        const std::vector<std::size_t>& kernels = kernels_of[&variable];
        std::vector<const Variable*> others;
        for (const std::size_t kernel : kernels) {
            others.insert(others.end(), placed[kernel].begin(), placed[kernel].end());
        }
        make_unique(others);
        std::sort(others.begin(), others.end(),
                  [](const Variable* a, const Variable* b) { return a->offset < b->offset; });
        std::uint64_t offset = 0;
        for (const Variable* other : others) {
            if (other->offset >= offset + variable.size) break;
            offset = std::max(offset, align_up(other->offset + other->size, variable.align));
        }
        if (offset + variable.size > (std::uint64_t{1} << 31)) {
            message = "the shared variable `" + variable.name + "` does not fit a 32-bit window";
            return false;
        }
        variable.offset = offset;
        for (const std::size_t kernel : kernels) placed[kernel].push_back(&variable);
    }
    for (Function& function : module.functions) {
        if (!function.is_kernel) continue;
        std::uint64_t dynamic_align = 16;
        for (const Variable* variable : function.shared) {
            if (variable->is_extern) {
                function.uses_dynamic_shared = true;
                dynamic_align = std::max<std::uint64_t>(dynamic_align, variable->align);
            } else {
                function.static_shared = std::max(function.static_shared, variable->offset + variable->size);
            }
        }
        function.dynamic_shared_offset = align_up(function.static_shared, dynamic_align);
    }
    return true;
}

}  // namespace emulator::ptx
