#include "emulator/src/memory/module_memory.h"

#include <cstring>

#include "emulator/src/exec/state.h"

namespace emulator {

static std::uint64_t address_of(const Module::Impl& module, const std::vector<Buffer*>& buffers,
                                const std::string& symbol) {
    for (std::size_t i = 0; i < module.text.variables.size(); ++i)
        if (module.text.variables[i]->name == symbol && buffers[i]) return buffers[i]->address;
    const std::int32_t function = module.text.find_function(symbol);
    return function >= 0 ? exec::kFunctionTag + static_cast<std::uint64_t>(function) : 0;
}

const std::vector<Buffer*>& module_variables(const Module& handle, Memory::Impl& memory, bool reset) {
    const Module::Impl& module = handle.impl();
    auto [it, added] = memory.variables.try_emplace(module.hash);
    std::vector<Buffer*>& buffers = it->second;
    if (!added && !reset) return buffers;
    const auto& variables = module.text.variables;
    if (added) {
        buffers.assign(variables.size(), nullptr);
        for (std::size_t i = 0; i < variables.size(); ++i) {
            const ptx::Variable& v = *variables[i];
            if (v.space != ptx::Space::global && v.space != ptx::Space::constant) continue;
            const bool constant = v.space == ptx::Space::constant;
            buffers[i] =
                &memory.add(v.name, v.size, constant ? BufferKind::input : BufferKind::inout,
                            constant ? Buffer::Role::constant_variable : Buffer::Role::global_variable, true,
                            std::byte{0});
        }
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (!buffers[i]) continue;
        const ptx::Variable& v = *variables[i];
        // New pages are zero, and need none of the host's memory before they are touched.
        if (!added) buffers[i]->content = Pages(buffers[i]->content.size());
        if (!v.data.empty())
            std::memcpy(buffers[i]->data(), v.data.data(), std::min<std::size_t>(v.data.size(), v.size));
        for (const ptx::Variable::Relocation& r : v.relocations) {
            if (r.offset + r.width > v.size) continue;
            std::uint64_t value = 0;
            std::memcpy(&value, buffers[i]->data() + r.offset, r.width);
            value +=
                (address_of(module, buffers, r.symbol) + static_cast<std::uint64_t>(r.addend)) >> r.shift;
            std::memcpy(buffers[i]->data() + r.offset, &value, r.width);
        }
    }
    return buffers;
}

static Buffer* find_variable(const Module& module, Memory::Impl& memory, std::string_view symbol) {
    const auto& buffers = module_variables(module, memory, false);
    const auto& variables = module.impl().text.variables;
    for (std::size_t i = 0; i < variables.size(); ++i)
        if (variables[i]->name == symbol) return buffers[i];
    return nullptr;
}

bool Memory::write_symbol(const Module& module, std::string_view symbol, std::span<const std::byte> bytes) {
    Buffer* buffer = find_variable(module, *impl_, symbol);
    if (!buffer || bytes.size() > buffer->size) return false;
    if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
    return true;
}
std::vector<std::byte> Memory::read_symbol(const Module& module, std::string_view symbol) const {
    const Buffer* buffer = find_variable(module, *impl_, symbol);
    if (!buffer) return {};
    return {buffer->data(), buffer->data() + buffer->size};
}
void Memory::load_globals(const Module& module) { module_variables(module, *impl_, true); }

}  // namespace emulator
