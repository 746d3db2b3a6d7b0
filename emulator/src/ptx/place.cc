// Source places. What a reader can mend is in the file that the kernel is written in, so of a chain of
// inlined calls the innermost line of that file is the place: a line of a header that is called from there is
// left out.
#include <fmt/format.h>

#include "emulator/src/ptx/parsed.h"

namespace emulator {

std::string to_string(const Place& place) {
    std::string text = fmt::format("{}:{}", place.file.empty() ? "?" : place.file, place.line);
    for (const Place::Call& call : place.inlined_at)
        text += fmt::format(", inlined at {}:{}", call.file.empty() ? "?" : call.file, call.line);
    return text;
}

namespace ptx {

Place place_of(const Module& module, const Instruction& instruction) {
    const Source& source = instruction.source;
    const auto name = [&](std::int32_t file) {
        const auto index = static_cast<std::size_t>(file);
        return file >= 0 && index < module.files.size() ? module.files[index] : std::string();
    };
    Place place;
    place.ptx_line = source.ptx_line;
    place.instruction = instruction.text;
    CallSite at{source.file, source.line, source.column, source.call_site};
    const auto outwards = [&] { at = module.call_sites[static_cast<std::size_t>(at.call_site)]; };
    while (at.call_site >= 0 && at.file != source.outer_file) outwards();
    place.file = name(at.file);
    place.line = at.line;
    place.column = at.column;
    while (at.call_site >= 0) {
        outwards();
        place.inlined_at.push_back({name(at.file), at.line, at.column});
    }
    return place;
}

}  // namespace ptx
}  // namespace emulator
