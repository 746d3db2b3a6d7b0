#include "harness/compile/cubin.h"

#include <elf.h>

#include <cstring>
#include <string_view>

namespace kernelwright {
namespace {

template <class T>
bool read_at(std::span<const std::byte> bytes, std::uint64_t offset, T& into) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
    std::memcpy(&into, bytes.data() + offset, sizeof(T));
    return true;
}

}  // namespace

std::map<std::string, std::uint32_t> code_sizes(std::span<const std::byte> cubin) {
    std::map<std::string, std::uint32_t> out;
    Elf64_Ehdr header{};
    if (!read_at(cubin, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
        return out;
    }
    const auto section_at = [&](std::uint64_t index, Elf64_Shdr& section) {
        return read_at(cubin, header.e_shoff + index * sizeof(Elf64_Shdr), section);
    };
    Elf64_Shdr names{};
    if (!section_at(header.e_shstrndx, names) || names.sh_offset > cubin.size() ||
        names.sh_size > cubin.size() - names.sh_offset) {
        return out;
    }
    const std::string_view strings(reinterpret_cast<const char*>(cubin.data()) + names.sh_offset,
                                   names.sh_size);
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section{};
        if (!section_at(i, section) || section.sh_name >= strings.size()) continue;
        std::string_view name = strings.substr(section.sh_name);
        name = name.substr(0, name.find('\0'));
        constexpr std::string_view prefix = ".text.";
        if (name.substr(0, prefix.size()) == prefix) {
            out[std::string(name.substr(prefix.size()))] = static_cast<std::uint32_t>(section.sh_size);
        }
    }
    return out;
}

}  // namespace kernelwright
