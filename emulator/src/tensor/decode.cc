// Tensor-core instructions. Handlers read Instr::target (index into tensor::plans()), and
//   sub        which fragment (wmma.load/store: 0 a, 1 b, 2 c, 3 d), or the number of 8 x 8 matrices
//   sub2       memory layout: 0 row, 1 col; .trans of ldmatrix and stmatrix; and.popc of b1 products
//   imm        products: fraction bits, terms of one step and result mantissa, a byte each
//   flag::sat  .satfinite
//   rounding   products of f64: 0 rn, 1 rz, 2 rm, 3 rp; sparse products: the sparsity selector; vector 1:
//   .sp, 2: .sp::ordered_metadata, 0: dense
//   sub        block-scaled products: scales of a row (sources after C: scales of A, their byte, thread; of
//   B); ldmatrix, stmatrix: matrices; rounding: the shape of a matrix and of elements (tensor::MatrixForm)
#include "emulator/src/decode/decoder.h"

#include <cstdlib>

#include "emulator/src/tensor/plan.h"

namespace emulator::decode {

namespace {

namespace flag = exec::flag;

std::optional<std::string> take_shape(const ptx::Instruction& in, Modifiers& modifiers) {
    for (const std::string& modifier : in.modifiers) {
        if (modifier.size() > 4 && modifier[0] == 'm' && modifier[1] >= '0' && modifier[1] <= '9' &&
            modifier.find('n') != std::string::npos && modifiers.take(modifier)) {
            return modifier;
        }
    }
    return std::nullopt;
}

void collective(Instr& out) {
    out.control = Control::collective;
    out.flags |= flag::whole_warp | flag::cross_lane;
}

int architecture(const Decoder& decoder) {  // 80 of "sm_80"
    const std::string& target = decoder.module.target;
    return target.size() > 3 ? std::atoi(target.c_str() + 3) : 80;
}

// How the target's tensor cores add; arithmetic.h says what the numbers mean (arXiv 2511.10909).
std::int64_t recipe(const tensor::Plan& plan, int architecture) {
    const bool eight = plan.a == Type::e4m3 || plan.a == Type::e5m2;
    int fraction = architecture < 75 ? 23 : architecture < 90 ? 24 : 25;
    int result = 23;
    if (architecture == 89 && eight) {
        fraction = 13;
        result = 13;
    }
    // Ampere and Ada take the longest product of each type in two steps; wmma is made of such products.
    const int longest = (eight ? 32 : plan.a == Type::tf32 ? 8 : 16) * (plan.sparse ? 2 : 1);
    int chunk = plan.k;
    if (architecture >= 80 && architecture < 90 && plan.k == longest) chunk = plan.k / 2;
    if (architecture < 80) chunk = std::min(chunk, architecture < 75 ? 4 : 8);
    return fraction | chunk << 8 | result << 16;
}

bool check_registers(Decoder& decoder, const ptx::Operand& operand, std::uint32_t expected,
                     const char* what) {
    const auto* vector = std::get_if<ptx::Vector>(&operand.value);
    const std::size_t count = vector == nullptr ? 1 : vector->elements.size();
    if (count == expected) return true;
    return decoder.fail(std::string(what) + " must have " + std::to_string(expected) + " registers, not " +
                        std::to_string(count));
}

// mma with .block_scale: D, A, B, C, scales of A, {byte, thread}, scales of B, {byte, thread}.
bool scaled_product(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out) {
    if (architecture(decoder) < 120) return decoder.fail("block scaling needs .target sm_120a");
    modifiers.take("sync");
    modifiers.take("aligned");
    const auto kind = modifiers.take_any({"kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
    const auto shape = take_shape(in, modifiers);
    if (!kind || !shape || !modifiers.take("row") || !modifiers.take("col") || in.operands.size() != 8)
        return decoder.fail("kind, shape or layout of a block-scaled product");
    const auto size = modifiers.take_any({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
    const bool bytes = *kind == "kind::mxf8f6f4";
    const int groups = bytes ? 1 : size && *size == "scale_vec::4X" ? 4 : 2;
    if ((size && (*size)[11] != '0' + groups) || (!size && *kind == "kind::mxf4nvf4") ||
        (groups == 4 && *kind != "kind::mxf4nvf4") || *shape != (bytes ? "m16n8k32" : "m16n8k64"))
        return decoder.fail("this size of scaled blocks");
    const auto d = modifiers.type(), a = modifiers.type(), b = modifiers.type(), c = modifiers.type(),
               scale = modifiers.type();
    if (!d || !a || !b || !c || !scale)
        return decoder.fail("the types of D, A, B, C and the scales are expected");
    if (*scale != Type::ue8m0 && (*scale != Type::ue4m3 || *kind != "kind::mxf4nvf4"))
        return decoder.fail("this type of the scales");
    const int number = *c == Type::f32 ? tensor::find_plan({false, false, *shape, *a, *b, *c, *d}) : -1;
    if (number < 0) return decoder.fail("this shape and these types are not supported together");
    const tensor::Plan& plan = tensor::plans()[static_cast<std::size_t>(number)];
    if (!check_registers(decoder, in.operands[0], plan.layout_d.registers, "D") ||
        !check_registers(decoder, in.operands[1], plan.layout_a.registers, "A") ||
        !check_registers(decoder, in.operands[2], plan.layout_b.registers, "B") ||
        !check_registers(decoder, in.operands[3], plan.layout_c.registers, "C") ||
        !check_registers(decoder, in.operands[5], 2, "the selector of A's scales") ||
        !check_registers(decoder, in.operands[7], 2, "the selector of B's scales"))
        return false;
    if (!decoder.destination(out, in.operands[0]) || !decoder.source(out, in.operands[1], Type::b32) ||
        !decoder.source(out, in.operands[2], Type::b32) || !decoder.source(out, in.operands[3], Type::f32) ||
        !decoder.source(out, in.operands[4], Type::b32) || !decoder.source(out, in.operands[5], Type::b16) ||
        !decoder.source(out, in.operands[6], Type::b32) || !decoder.source(out, in.operands[7], Type::b16))
        return false;
    out.target = static_cast<std::uint32_t>(number);
    out.vector = 0;
    out.sub = static_cast<std::uint8_t>(groups);
    out.sub2 = *scale == Type::ue4m3;
    // Exact sums of 16 products are aligned with 35 fraction bits, single products with 25 (arXiv
    // 2511.10909).
    out.imm = bytes ? 25 : 35;
    out.pipe = Pipe::tensor;
    collective(out);
    out.flags |= flag::loads;
    return decoder.handler(out, "mma.scaled");
}

bool product(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out, bool is_wmma) {
    const bool ordered = modifiers.take("sp::ordered_metadata"), sparse = ordered || modifiers.take("sp");
    const bool scaled = modifiers.take("block_scale");
    if (scaled) return scaled_product(decoder, in, modifiers, out);
    if (in.operands.size() != (sparse ? 6 : 4)) {
        return decoder.fail(sparse ? "a sparse matrix product has six operands"
                                   : "a matrix product has four operands");
    }
    modifiers.take("sync");
    modifiers.take("aligned");
    const auto shape = take_shape(in, modifiers);
    if (!shape) return decoder.fail("the shape is missing");
    const bool conjunction = modifiers.take("and");
    const bool exclusive = modifiers.take("xor");
    if ((conjunction || exclusive) && !modifiers.take("popc")) return decoder.fail(".popc is missing");
    const bool narrow = modifiers.take("kind::f8f6f4");
    std::vector<std::string> layouts;
    for (const std::string& modifier : in.modifiers) {
        if (modifier == "row" || modifier == "col") layouts.push_back(modifier);
    }
    if (layouts.size() != 2) return decoder.fail("the layouts of A and B are missing");
    for (const std::string& layout : layouts) modifiers.take(layout);
    if (modifiers.take("satfinite")) out.flags |= flag::sat;
    const auto rounding = modifiers.take_any({"rn", "rz", "rm", "rp"});
    std::vector<Type> types;
    while (const auto type = modifiers.type()) types.push_back(*type);
    Type a = Type::none, b = Type::none, c = Type::none, d = Type::none;
    if (types.size() == 4) {
        d = types[0];
        a = types[1];
        b = types[2];
        c = types[3];
    } else if (types.size() == 2 && is_wmma) {
        d = types[0];
        c = types[1];
        a = b = Type::f16;
    } else {
        return decoder.fail("the types of D, A, B and C are expected");
    }
    tensor::Form form{is_wmma, sparse, *shape, a, b, c, d};
    if (!is_wmma) {  // the registers of a wmma fragment do not depend on its layout in memory here
        form.a_by_columns = layouts[0] == "col";
        form.b_by_rows = layouts[1] == "row";
    }
    const int number = tensor::find_plan(form);
    if (number < 0) return decoder.fail("this shape and these types are not supported together");
    const tensor::Plan& plan = tensor::plans()[static_cast<std::size_t>(number)];
    const auto below_a_byte = [](Type t) { return t == Type::e2m1 || t == Type::e2m3 || t == Type::e3m2; };
    if ((below_a_byte(a) || below_a_byte(b)) && (!narrow || architecture(decoder) < 120))
        return decoder.fail("these types need .kind::f8f6f4 and .target sm_120a");
    if ((a == Type::b1) != (conjunction || exclusive)) {
        return decoder.fail("a product of single bits needs .xor.popc or .and.popc, others have neither");
    }
    if (rounding) {
        if (a != Type::f64) return decoder.fail("only products of f64 have a rounding mode");
        out.rounding = *rounding == "rz" ? 1 : *rounding == "rm" ? 2 : *rounding == "rp" ? 3 : 0;
    }
    if (!check_registers(decoder, in.operands[0], plan.layout_d.registers, "D") ||
        !check_registers(decoder, in.operands[1], plan.layout_a.registers, "A") ||
        !check_registers(decoder, in.operands[2], plan.layout_b.registers, "B") ||
        !check_registers(decoder, in.operands[3], plan.layout_c.registers, "C")) {
        return false;
    }
    const auto word = [](Type type) { return type == Type::f64 || type == Type::f32 ? type : Type::b32; };
    if (!decoder.destination(out, in.operands[0]) || !decoder.source(out, in.operands[1], word(a)) ||
        !decoder.source(out, in.operands[2], word(b)) || !decoder.source(out, in.operands[3], word(c))) {
        return false;
    }
    out.vector = 0;
    if (sparse) {
        const auto selector = decoder.literal(in.operands[5]);
        const int most = tensor::sparsity_selectors(plan.a, plan.k);
        if (!selector || *selector < 0 || *selector >= most) {
            return decoder.fail("the sparsity selector must be a constant from 0 to " +
                                std::to_string(most - 1));
        }
        out.rounding = static_cast<std::uint8_t>(*selector);
        out.vector = ordered ? 2 : 1;
        if (!decoder.source(out, in.operands[4], Type::b32)) return false;
    }
    out.target = static_cast<std::uint32_t>(number);
    out.imm = recipe(plan, architecture(decoder));
    out.sub2 = conjunction ? 1 : 0;
    out.pipe = Pipe::tensor;
    collective(out);
    out.flags |= flag::loads;  // the handler knows which rows and columns an undefined element reaches
    switch (a) {
        case Type::f64:
            return decoder.handler(out, "mma.double");
        case Type::s8:
        case Type::u8:
        case Type::s4:
        case Type::u4:
            return decoder.handler(out, "mma.integer");
        case Type::b1:
            return decoder.handler(out, "mma.bits");
        default:
            return decoder.handler(out, "mma.float");
    }
}

bool decode_mma(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out) {
    return product(decoder, in, modifiers, out, false);
}

ptx::Space take_space(Modifiers& modifiers) {
    if (modifiers.take("shared") || modifiers.take("shared::cta")) return ptx::Space::shared;
    if (modifiers.take("global")) return ptx::Space::global;
    return ptx::Space::generic;
}

// wmma.load.X and wmma.store.d
bool fragment_access(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out,
                     bool store) {
    const auto role = modifiers.take_any({"a", "b", "c", "d"});
    if (!role || (store != (*role == "d"))) return decoder.fail("the fragment's letter is missing");
    modifiers.take("sync");
    modifiers.take("aligned");
    const auto layout = modifiers.take_any({"row", "col"});
    const auto shape = take_shape(in, modifiers);
    out.space = take_space(modifiers);
    const auto type = modifiers.type();
    if (!layout || !shape || !type) return decoder.fail("layout, shape or type is missing");
    const int which = (*role)[0] - 'a';
    if ((*type == Type::s4 || *type == Type::u4 || *type == Type::b1) &&
        *layout != (which == 0 ? "row" : "col")) {
        return decoder.fail("elements smaller than a byte must lie along k: A by rows, B by columns");
    }
    tensor::Form form{true, false, *shape};
    (which == 0 ? form.a : which == 1 ? form.b : which == 2 ? form.c : form.d) = *type;
    const int number = tensor::find_plan(form);
    if (number < 0) return decoder.fail("this shape and type are not supported together");
    const tensor::Plan& plan = tensor::plans()[static_cast<std::size_t>(number)];
    if (in.operands.size() < 2 || in.operands.size() > 3)
        return decoder.fail("two or three operands are expected");
    const ptx::Operand& registers = in.operands[store ? 1 : 0];
    const ptx::Operand& place = in.operands[store ? 0 : 1];
    if (!check_registers(decoder, registers, plan.layout(which).registers, "the fragment")) return false;
    if (!store && !decoder.destination(out, registers)) return false;
    if (!decoder.address(out, place)) return false;
    if (in.operands.size() == 3) {
        if (!decoder.source(out, in.operands[2], Type::b32)) return false;
        out.vector = 1;  // a stride is given
    } else {
        out.vector = 0;
    }
    if (store && !decoder.source(out, registers, *type == Type::f64 ? Type::f64 : Type::b32)) return false;
    out.target = static_cast<std::uint32_t>(number);
    out.sub = static_cast<std::uint8_t>(which);
    out.sub2 = *layout == "col";
    out.pipe = Pipe::lsu;
    collective(out);
    if (!store) out.flags |= flag::loads;
    return decoder.handler(out, store ? "wmma.store" : "wmma.load");
}

bool decode_wmma(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out) {
    if (modifiers.take("mma")) return product(decoder, in, modifiers, out, true);
    if (modifiers.take("load")) return fragment_access(decoder, in, modifiers, out, false);
    if (modifiers.take("store")) return fragment_access(decoder, in, modifiers, out, true);
    return decoder.fail("wmma.load, wmma.mma or wmma.store is expected");
}

// ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements, and those of sm_100 with smaller ones
bool matrix_access(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out,
                   bool store) {
    modifiers.take("sync");
    modifiers.take("aligned");
    const auto shape = modifiers.take_any({"m8n8", "m8n16", "m16n16", "m16n8"});
    if (!shape) return decoder.fail("the shape of the matrices is missing");
    const auto count = modifiers.take_any({"x1", "x2", "x4"});
    if (!count) return decoder.fail(".x1, .x2 or .x4 is missing");
    out.sub2 = modifiers.take("trans");
    out.space = take_space(modifiers);
    if (in.operands.size() != 2) return decoder.fail("two operands are expected");
    out.sub = static_cast<std::uint8_t>((*count)[1] - '0');
    tensor::MatrixForm form = tensor::MatrixForm::b16;
    if (*shape == "m8n8") {
        if (!modifiers.take("b16")) return decoder.fail("8 x 8 matrices have elements of .b16");
    } else {
        const bool widens = modifiers.take("b8x16"), six = widens && modifiers.take("b6x16_p32"),
                   four = widens && !six && modifiers.take("b4x16_p64");
        if (widens ? !six && !four : !modifiers.take("b8")) return decoder.fail("this type of elements");
        const bool tall = *shape == "m16n16", stored = *shape == "m16n8";
        if (stored != store || (*shape == "m8n16" ? out.sub2 != 0 || !widens : out.sub2 == 0) ||
            (tall && out.sub == 4) || (stored && widens))
            return decoder.fail("this shape and this type are not supported together");
        form = six ? tensor::MatrixForm::b6 : four ? tensor::MatrixForm::b4 : tensor::MatrixForm::b8;
        if (architecture(decoder) < 100) return decoder.fail("this shape needs sm_100a");
        out.vector = tall ? 2 : 1;  // registers of a matrix
    }
    out.rounding = static_cast<std::uint8_t>(form);
    const ptx::Operand& registers = in.operands[store ? 1 : 0];
    if (!check_registers(decoder, registers, static_cast<std::uint32_t>(out.sub * out.vector),
                         "the matrices"))
        return false;
    if (!store && !decoder.destination(out, registers)) return false;
    if (!decoder.address(out, in.operands[store ? 0 : 1])) return false;
    if (store && !decoder.source(out, registers, Type::b32)) return false;
    out.size = 16;
    out.pipe = Pipe::lsu;
    collective(out);
    if (!store) out.flags |= flag::loads;
    const std::string small = form == tensor::MatrixForm::b16 ? "" : ".small";
    return decoder.handler(out, (store ? "stmatrix" : "ldmatrix") + small);
}

bool decode_ldmatrix(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out) {
    return matrix_access(decoder, in, modifiers, out, false);
}
bool decode_stmatrix(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out) {
    return matrix_access(decoder, in, modifiers, out, true);
}

bool decode_movmatrix(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers, Instr& out) {
    modifiers.take("sync");
    modifiers.take("aligned");
    if (!modifiers.take("m8n8") || !modifiers.take("trans") || !modifiers.take("b16") ||
        in.operands.size() != 2) {
        return decoder.fail("movmatrix.sync.aligned.m8n8.trans.b16 d, a is the only form");
    }
    if (!decoder.destination(out, in.operands[0]) || !decoder.source(out, in.operands[1], Type::b32)) {
        return false;
    }
    out.pipe = Pipe::lsu;
    collective(out);
    return decoder.handler(out, "movmatrix");
}

}  // namespace

void add_tensor(DecodeTable& table) {
    table["mma"] = decode_mma;
    table["wmma"] = decode_wmma;
    table["ldmatrix"] = decode_ldmatrix;
    table["stmatrix"] = decode_stmatrix;
    table["movmatrix"] = decode_movmatrix;
}

}  // namespace emulator::decode
