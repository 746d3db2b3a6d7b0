// Video instructions: scalar ones on a word, half or byte, and SIMD ones on two halves or four bytes.
#include "emulator/src/decode/decoder.h"
#include "emulator/src/exec/video_form.h"

namespace emulator::decode {
namespace {

using exec::VideoForm;
using exec::VideoOperation;
using exec::VideoSecond;

std::optional<VideoOperation> operation(std::string_view name) {
    static const std::map<std::string, VideoOperation, std::less<>> table = {
        {"vadd", VideoOperation::add},      {"vsub", VideoOperation::sub},
        {"vavrg", VideoOperation::average}, {"vabsdiff", VideoOperation::difference},
        {"vmin", VideoOperation::minimum},  {"vmax", VideoOperation::maximum},
        {"vshl", VideoOperation::left},     {"vshr", VideoOperation::right},
        {"vset", VideoOperation::set}};
    const auto it = table.find(name);
    return it == table.end() ? std::nullopt : std::optional(it->second);
}

// The types of d, a and b (of a and b: set), the comparison and the second operation.
bool take_form(Decoder& d, Modifiers& m, VideoForm& form) {
    const bool set = form.operation == static_cast<std::uint64_t>(VideoOperation::set);
    if (set) {
        const auto name = m.take_any({"eq", "ne", "lt", "le", "gt", "ge"});
        if (!name) return d.fail("no comparison");
        form.comparison = static_cast<std::uint64_t>(*comparison(*name));
    }
    const auto is_word = [](std::optional<Type> t) { return t == Type::u32 || t == Type::s32; };
    const auto r = set ? std::optional(Type::u32) : m.type(), a = m.type(), b = m.type();
    if (!is_word(r) || !is_word(a) || !is_word(b)) return d.fail("these types");
    const bool shifts = form.operation == static_cast<std::uint64_t>(VideoOperation::left) ||
                        form.operation == static_cast<std::uint64_t>(VideoOperation::right);
    if (shifts && is_signed(*b)) return d.fail("a signed shift amount");
    form.d_signed = is_signed(*r);
    form.a_signed = is_signed(*a);
    form.b_signed = is_signed(*b);
    form.saturate = m.take("sat");
    form.second = static_cast<std::uint64_t>(m.take("add")   ? VideoSecond::add
                                             : m.take("min") ? VideoSecond::minimum
                                             : m.take("max") ? VideoSecond::maximum
                                                             : VideoSecond::none);
    return true;
}

// "" 0, "b0" 1 ... "b3" 4, "h0" 5, "h1" 6.
bool part(Decoder& d, const std::string& selector, std::uint64_t& out) {
    static const std::map<std::string, std::uint64_t, std::less<>> parts = {
        {"", 0}, {"b0", 1}, {"b1", 2}, {"b2", 3}, {"b3", 4}, {"h0", 5}, {"h1", 6}};
    const auto it = parts.find(selector);
    if (it == parts.end()) return d.fail("the part `." + selector + "`");
    out = it->second;
    return true;
}

bool words(Decoder& d, const ptx::Instruction& in, Instr& out, const VideoForm& form) {
    out.imm = exec::pack(form);
    out.pipe = Pipe::alu;
    out.work = Work::integer;
    return in.operands.size() == 3 ? d.simple(out, in, Type::u32, {Type::u32, Type::u32})
                                   : d.simple(out, in, Type::u32, {Type::u32, Type::u32, Type::u32});
}

bool scalar(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    VideoForm form;
    form.operation = static_cast<std::uint64_t>(*operation(in.opcode));
    if (in.opcode == "vshl" || in.opcode == "vshr") {
        form.wrap = m.take("wrap");
        if (!form.wrap && !m.take("clamp")) return d.fail("this form");
    }
    if (!take_form(d, m, form)) return false;
    if (in.operands.size() < 3 || in.operands.size() > 4) return d.fail("a different number of operands");
    std::uint64_t to = 0, a = 0, b = 0;
    if (!part(d, in.operands[0].selector, to) || !part(d, in.operands[1].selector, a) ||
        !part(d, in.operands[2].selector, b))
        return false;
    form.part_d = to;
    form.part_a = a;
    form.part_b = b;
    const bool combines = to != 0 || form.second != 0;
    if (to != 0 && form.second != 0) return d.fail("a second operation and a merge");
    if (combines && in.operands.size() != 4) return d.fail("a different number of operands");
    return d.handler(out, "video.scalar") && words(d, in, out, form);
}

bool mad(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    VideoForm form;
    form.operation = static_cast<std::uint64_t>(VideoOperation::mad);
    form.plus_one = m.take("po");
    form.scale = m.take("shr7") ? 7 : m.take("shr15") ? 15 : 0;
    if (!take_form(d, m, form) || form.second != 0) return d.fail("this form");
    if (in.operands.size() != 4) return d.fail("a different number of operands");
    ptx::Instruction plain = in;  // negation is part of the form
    for (ptx::Operand& operand : plain.operands) operand.negated = false;
    std::uint64_t a = 0, b = 0;
    if (!part(d, in.operands[1].selector, a) || !part(d, in.operands[2].selector, b)) return false;
    form.part_a = a;
    form.part_b = b;
    form.negate_product = in.operands[1].negated != in.operands[2].negated;
    form.negate_c = in.operands[3].negated;
    const bool negates = in.operands[1].negated || in.operands[2].negated;
    if ((negates && form.negate_c) || (form.plus_one && (negates || form.negate_c)))
        return d.fail("these negations together");
    return d.handler(out, "video.mad") && words(d, plain, out, form);
}

// ".b7654": digit by digit from the highest element, three bits each.
bool selection(Decoder& d, const std::string& selector, char unit, int n, std::uint64_t otherwise,
               std::uint64_t& out) {
    out = otherwise;
    if (selector.empty()) return true;
    if (selector.size() != static_cast<std::size_t>(n) + 1 || selector[0] != unit)
        return d.fail("the selection `." + selector + "`");
    out = 0;
    for (int k = 0; k < n; ++k) {
        const int digit = selector[static_cast<std::size_t>(n - k)] - '0';
        if (digit < 0 || digit >= 2 * n) return d.fail("the selection `." + selector + "`");
        out |= static_cast<std::uint64_t>(digit) << (3 * k);
    }
    return true;
}

bool simd(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const int n = in.opcode.back() - '0';
    const char unit = n == 2 ? 'h' : 'b';
    VideoForm form;
    form.operation =
        static_cast<std::uint64_t>(*operation(std::string_view(in.opcode).substr(0, in.opcode.size() - 1)));
    if (!take_form(d, m, form)) return false;
    if (form.second > static_cast<std::uint64_t>(VideoSecond::add) || (form.second != 0 && form.saturate))
        return d.fail("this form");
    if (in.operands.size() != 4) return d.fail("a different number of operands");
    std::uint64_t a = 0, b = 0;
    if (!selection(d, in.operands[1].selector, unit, n, n == 2 ? 010 : 03210, a) ||
        !selection(d, in.operands[2].selector, unit, n, n == 2 ? 032 : 07654, b))
        return false;
    form.select_a = a;
    form.select_b = b;
    const std::string& lanes = in.operands[0].selector;
    std::uint64_t mask = lanes.empty() ? (1u << n) - 1 : 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const int digit = lanes[i] - '0';
        const bool descends = i < 2 || lanes[i] < lanes[i - 1];
        if (i == 0 ? lanes[i] != unit || lanes.size() < 2 : digit < 0 || digit >= n || !descends)
            return d.fail("the mask `." + lanes + "`");
        if (i > 0) mask |= std::uint64_t{1} << digit;
    }
    form.mask = mask;
    out.vector = static_cast<std::uint8_t>(n);
    return d.handler(out, "video.simd") && words(d, in, out, form);
}

}  // namespace

void add_video(DecodeTable& t) {
    for (const char* name : {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"})
        t[name] = scalar;
    t["vmad"] = mad;
    for (const char* name : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"})
        t[std::string(name) + "2"] = t[std::string(name) + "4"] = simd;
}

}  // namespace emulator::decode
