// Built-in functions: vprintf, malloc, free, __assertfail.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "emulator/src/exec/control.h"
#include "emulator/src/exec/report.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/launch/local_access.h"

namespace emulator::exec {

const std::byte* host_bytes(const Warp& w, int lane, std::uint64_t address, std::uint64_t bytes) {
    if (is_local_window(address)) {
        const std::uint64_t offset = address - kLocalWindow;
        if (is_beyond(offset, bytes, w.launch->local_limit)) return nullptr;
        return w.local + std::uint64_t(lane) * w.launch->local_stride + offset;
    }
    if (is_shared_window(address)) {
        const std::uint64_t offset = address - kSharedWindow;
        return is_beyond(offset, bytes, w.block->shared_bytes) ? nullptr : w.block->shared + offset;
    }
    const Buffer* buffer = w.launch->memory->at(address);
    return buffer && buffer->contains(address, bytes) ? buffer->data() + (address - buffer->address)
                                                      : nullptr;
}

std::optional<std::string> read_string(const Warp& w, int lane, std::uint64_t address, std::size_t limit) {
    std::string s;
    while (s.size() < limit) {
        const std::byte* b = host_bytes(w, lane, address + s.size(), 1);
        if (!b) return std::nullopt;
        if (*b == std::byte{0}) return s;
        s += static_cast<char>(*b);
    }
    return s;
}

// Formats as CUDA's printf: integers are 4 bytes (8 with ll, l or z), floats doubles, strings pointers.
static std::optional<std::string> format(const Warp& w, int lane, std::uint64_t text_address,
                                         std::uint64_t args) {
    const auto text = read_string(w, lane, text_address);
    if (!text) return std::nullopt;
    std::string out;
    std::uint64_t at = 0;
    const auto argument = [&](std::uint32_t bytes, std::uint64_t& value) {
        at = (at + bytes - 1) / bytes * bytes;
        const std::byte* from = host_bytes(w, lane, args + at, bytes);
        if (!from) return false;
        value = 0;
        std::memcpy(&value, from, bytes);
        at += bytes;
        return true;
    };
    for (std::size_t i = 0; i < text->size(); ++i) {
        const char c = (*text)[i];
        if (c != '%') {
            out += c;
            continue;
        }
        std::string spec = "%";
        bool wide = false, good = true;
        for (++i; i < text->size(); ++i) {
            const char k = (*text)[i];
            if (std::string_view("-+ #0123456789.").find(k) != std::string_view::npos) {
                // Widths and precisions of at most four digits: more would only fill memory.
                const std::size_t digits = spec.size() - 1 - spec.find_last_not_of("0123456789");
                if (spec.size() < 24 && (digits < 4 || k < '0' || k > '9')) spec += k;
            } else if (k == '*') {
                std::uint64_t v = 0;
                if (!argument(4, v)) return std::nullopt;
                spec += std::to_string(std::clamp(static_cast<std::int32_t>(v), -4096, 4096));
            } else if (k == 'l' || k == 'z' || k == 'j' || k == 't') {
                wide = true;
            } else if (k == 'h' || k == 'L') {
                continue;
            } else {
                break;
            }
        }
        if (i >= text->size()) {
            out += spec;
            break;
        }
        const char kind = (*text)[i];
        std::uint64_t v = 0;
        char buffer[512];
        int n = 0;
        switch (kind) {
            case '%':
                out += '%';
                break;
            case 'd':
            case 'i':
                good = argument(wide ? 8 : 4, v);
                n = std::snprintf(
                    buffer, sizeof buffer, (spec + "lld").c_str(),
                    wide ? static_cast<long long>(v) : static_cast<long long>(static_cast<std::int32_t>(v)));
                break;
            case 'u':
            case 'x':
            case 'X':
            case 'o':
                good = argument(wide ? 8 : 4, v);
                n = std::snprintf(buffer, sizeof buffer, (spec + "ll" + kind).c_str(),
                                  static_cast<unsigned long long>(v));
                break;
            case 'c':
                good = argument(4, v);
                n = std::snprintf(buffer, sizeof buffer, (spec + "c").c_str(), static_cast<int>(v & 0xff));
                break;
            case 'f':
            case 'F':
            case 'e':
            case 'E':
            case 'g':
            case 'G':
            case 'a':
            case 'A':
                good = argument(8, v);
                n = std::snprintf(buffer, sizeof buffer, (spec + kind).c_str(), std::bit_cast<double>(v));
                break;
            case 'p':
                good = argument(8, v);
                n = std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(v));
                break;
            case 's': {
                good = argument(8, v);
                const auto s = good ? read_string(w, lane, v) : std::nullopt;
                n = std::snprintf(buffer, sizeof buffer, (spec + "s").c_str(), s ? s->c_str() : "(null)");
                break;
            }
            default:
                out += spec + kind;
                break;
        }
        if (!good) return std::nullopt;
        if (n > 0) out.append(buffer, std::min<std::size_t>(static_cast<std::size_t>(n), sizeof buffer - 1));
    }
    return out;
}

void call_builtin(Warp& w, Fragment& f, const Instr& in, const CallSite& site, Mask exec) {
    Launch& launch = *w.launch;
    for_lanes(exec, [&](int lane) {
        if (launch.stopped) return;
        std::byte* local = w.local + std::uint64_t(lane) * launch.local_stride + f.frame->local_base;
        const auto argument = [&](std::size_t i) {
            std::uint64_t v = 0;
            if (i < site.arguments.size())
                std::memcpy(&v, local + site.arguments[i].offset,
                            std::min<std::uint32_t>(site.arguments[i].bytes, 8));
            return v;
        };
        const auto result = [&](std::uint64_t v) {
            if (site.results.empty()) return;
            std::memcpy(local + site.results[0].offset, &v,
                        std::min<std::uint32_t>(site.results[0].bytes, 8));
            if (launch.check_initialised)
                set_bits(
                    w.local_written,
                    std::uint64_t(lane) * launch.local_stride + f.frame->local_base + site.results[0].offset,
                    site.results[0].bytes);
        };
        if (site.builtin == "vprintf") {
            const auto text = format(w, lane, argument(0), argument(1));
            if (!text) {
                report(w, "out-of-bounds", in, lane,
                       "printf reads a format or an argument outside its memory", true);
                return;
            }
            if (launch.outcome->printed.size() + text->size() > launch.options->max_printf_bytes) {
                report(w, "printf-limit", in, lane,
                       fmt::format("printf wrote more than {} bytes", launch.options->max_printf_bytes),
                       true);
                return;
            }
            launch.outcome->printed += *text;
            result(static_cast<std::uint64_t>(std::count(text->begin(), text->end(), '%')));
        } else if (site.builtin == "malloc") {
            const std::uint64_t bytes = argument(0);
            constexpr std::uint64_t kHeap = 8 << 20;  // cudaLimitMallocHeapSize
            if (bytes == 0 || is_beyond(launch.heap_bytes, bytes, kHeap) ||
                launch.memory->next_slot + 2 >= kSlotLimit) {
                result(0);
            } else {
                launch.heap_bytes += bytes;
                const Buffer& b = launch.memory->add("malloc", bytes, BufferKind::scratch, Buffer::Role::heap,
                                                     false, std::byte{0xd5});
                result(b.address);
            }
        } else if (site.builtin == "free") {
            const std::uint64_t at = argument(0);
            Buffer* b = at ? launch.memory->at(at) : nullptr;
            if (at && (!b || b->address != at || b->role != Buffer::Role::heap)) {
                report(w, "illegal-instruction", in, lane,
                       fmt::format("frees {:#x}, which malloc did not return", at), true);
            } else if (b) {
                launch.heap_bytes -= b->size;
                launch.memory->remove(*b);
            }
        } else {  // __assertfail(message, file, line, function, size)
            const auto message = read_string(w, lane, argument(0)), file = read_string(w, lane, argument(1));
            report(w, "assert", in, lane,
                   fmt::format("assertion `{}` failed ({}:{})", message.value_or("?"), file.value_or("?"),
                               argument(2)),
                   true);
        }
    });
}

}  // namespace emulator::exec
