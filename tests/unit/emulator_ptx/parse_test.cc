#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "emulator/src/ptx/parsed.h"

namespace emulator::ptx {
namespace {

const std::string head = ".version 9.0\n.target sm_80\n.address_size 64\n";

Module good(const std::string& text) {
    auto result = parse(text);
    if (auto* error = std::get_if<LoadError>(&result)) {
        ADD_FAILURE() << "line " << error->ptx_line << ": " << error->message << " [" << error->instruction
                      << "]";
        return {};
    }
    return std::move(std::get<Module>(result));
}

LoadError bad(const std::string& text) {
    auto result = parse(text);
    if (auto* error = std::get_if<LoadError>(&result)) return *error;
    ADD_FAILURE() << "parsed: " << text;
    return {};
}

Module kernel(const std::string& body, const std::string& before = "") {
    return good(head + before + ".visible .entry k(.param .u64 k_param_0)\n{\n" + body + "\n}\n");
}

const Register& reg(const Operand& operand) { return std::get<Register>(operand.value); }

std::vector<int> bytes(const Variable& variable) {
    std::vector<int> out;
    for (const std::byte b : variable.data) out.push_back(std::to_integer<int>(b));
    return out;
}

const Variable& variable(const Module& module, std::string_view name) {
    for (const auto& v : module.variables) {
        if (v->name == name) return *v;
    }
    ADD_FAILURE() << name;
    return *module.variables.at(0);
}

TEST(Parse, HeaderAndKernel) {
    const Module m =
        good(head +
             ".visible .entry k(\n .param .u64 .ptr .global .align 16 k_param_0,\n"
             " .param .u32 k_param_1,\n .param .align 8 .b8 k_param_2[24],\n .param .u8 k_param_3)\n"
             ".maxntid 256, 2, 1\n.reqntid 32\n.minnctapersm 2\n.maxnreg 40\n"
             ".reqnctapercluster 2, 1, 1\n.explicitcluster\n{ ret; }");
    EXPECT_EQ(m.version, "9.0");
    EXPECT_EQ(m.target, "sm_80");
    ASSERT_EQ(m.functions.size(), 1u);
    const Function& f = m.functions[0];
    EXPECT_TRUE(f.is_kernel);
    ASSERT_EQ(f.parameters.size(), 4u);
    EXPECT_TRUE(f.parameters[0].is_pointer);
    EXPECT_EQ(f.parameters[0].align, 8u);  // .align after .ptr is the target's
    EXPECT_EQ(f.parameters[1].offset, 8u);
    EXPECT_EQ(f.parameters[2].offset, 16u);
    EXPECT_EQ(f.parameters[2].size, 24u);
    EXPECT_EQ(f.parameters[3].offset, 40u);
    EXPECT_EQ(f.parameter_bytes, 41u);
    EXPECT_EQ(f.max_block, (Dim3{256, 2, 1}));
    EXPECT_EQ(f.required_block, (Dim3{32, 1, 1}));
    EXPECT_EQ(f.required_cluster, (Dim3{2, 1, 1}));
    EXPECT_TRUE(f.explicit_cluster);
    EXPECT_EQ(f.min_blocks_per_sm, 2u);
    EXPECT_EQ(f.max_registers, 40u);
}

TEST(Parse, RegistersAreNumberedByFileAtFirstUse) {
    const Module m = kernel(
        ".reg .b32 %r<1000000000>; .reg .f32 %f<9>; .reg .b64 %rd<3>; .reg .b128 %q<2>; .reg .pred %p<2>;"
        "mov.u32 %r999, %r5; mov.f32 %f8, %f8; mov.b128 %q1, {%rd1, %rd2}; setp.eq.u32 %p1, %r5, 0; ret;");
    const Function& f = m.functions[0];
    EXPECT_EQ(reg(f.code[0].operands[0]).index, 0u);
    EXPECT_EQ(reg(f.code[0].operands[1]).index, 1u);
    EXPECT_EQ(reg(f.code[1].operands[0]).index, 2u);
    EXPECT_EQ(f.narrow_registers, 3u);
    EXPECT_EQ(f.wide_registers, 4u);  // a b128 takes two
    EXPECT_EQ(f.predicates, 1u);
}

TEST(Parse, RangesWhosePrefixEndsInDigits) {
    const Module m = kernel(".reg .b32 %r1<3>, %r<2>; mov.u32 %r10, %r1; mov.u32 %r12, %r0; ret;");
    EXPECT_EQ(m.functions[0].narrow_registers, 4u);
    EXPECT_NE(bad(head + ".entry k() { .reg .b32 %r1<3>; mov.u32 %r13, 0; }").message.find("`%r13`"),
              std::string::npos);
    EXPECT_NE(bad(head + ".entry k() { .reg .b32 %r<3>; mov.u32 %r01, 0; }").message.find("`%r01`"),
              std::string::npos);
}

TEST(Parse, NestedScopesHaveTheirOwnRegistersAndLabels) {
    const Module m = kernel(
        ".reg .b32 %r<4>; mov.u32 %r1, 1;\n"
        "{ .reg .b32 %r<4>; .reg .b16 low; L: mov.u32 %r1, 2; bra L; }\n"
        "{ .reg .b16 low; L: mov.u32 %r1, 3; bra L; bra DONE; }\nDONE: ret;");
    const auto& code = m.functions[0].code;
    EXPECT_NE(reg(code[0].operands[0]).index, reg(code[1].operands[0]).index);
    EXPECT_EQ(reg(code[0].operands[0]).index, reg(code[3].operands[0]).index);
    EXPECT_EQ(std::get<Label>(code[2].operands[0].value).target, 1u);
    EXPECT_EQ(std::get<Label>(code[4].operands[0].value).target, 3u);
    EXPECT_EQ(std::get<Label>(code[5].operands[0].value).target, 6u);
}

TEST(Parse, Operands) {
    const Module m = kernel(
        ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<5>; .reg .b16 %h<5>;\n"
        "@!%p1 shfl.sync.bfly.b32 %r1|%p2, %r2, 16, 31, -1;\n"
        "ld.global.v4.f32 {%f1, _, %f2, %f3}, [%rd1+-16];\n"
        "st.shared::cta.b32 [arr+8], %r1;\n"
        "ld.shared.b32 %r1, [arr];\n"
        "ld.global.b32 %r1, [4096];\n"
        "mov.b32 {%h1, %h2}, %r1;\n"
        "mov.u32 %r1, %tid.y; mov.u32 %r1, %laneid; mov.u32 %r2, WARP_SZ;\n"
        "fma.rn.f32 %f1, 0f3F800000, 0dBFF0000000000000, -%f2;\n"
        "setp.lt.and.s32 %p1|%p2, %r1, -0x10, !%p3;\n"
        "mbarrier.arrive.shared.b64 _, [arr];\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, "
        "%r3}], [%r4];\n"
        "mov.u64 %rd1, arr+4; vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1, %r4;\n"
        "mov.u32 %r1, 0b101; mov.u32 %r1, 017; mov.u32 %r1, 4294967295U; mov.u32 %r1, (1+2)*3<<1; mov.f32 "
        "%f1, 1.5e-1;\n"
        "elect.sync _|%p1, -1;\nret;",
        ".shared .align 4 .b8 arr[64];\n");
    const auto& code = m.functions[0].code;
    EXPECT_TRUE(code[0].predicate_negated);
    EXPECT_EQ(code[0].modifiers, (std::vector<std::string>{"sync", "bfly", "b32"}));
    EXPECT_TRUE(code[0].operands[0].pair.has_value());
    EXPECT_EQ(std::get<Immediate>(code[0].operands[4 - 0].value).bits, ~std::uint64_t{0});
    const auto& vector = std::get<Vector>(code[1].operands[0].value);
    ASSERT_EQ(vector.elements.size(), 4u);
    EXPECT_TRUE(std::holds_alternative<Sink>(vector.elements[1].value));
    EXPECT_EQ(std::get<Address>(code[1].operands[1].value).offset, -16);
    EXPECT_TRUE(code[2].has("shared::cta"));
    const auto& address = std::get<Address>(code[2].operands[0].value);
    EXPECT_EQ(std::get<Symbol>(address.base).variable->name, "arr");
    EXPECT_EQ(address.offset, 8);
    EXPECT_EQ(std::get<Immediate>(std::get<Address>(code[4].operands[1].value).base).bits, 4096u);
    EXPECT_EQ(std::get<Special>(code[6].operands[1].value).component, 1);
    EXPECT_EQ(std::get<Special>(code[7].operands[1].value).name, "laneid");
    EXPECT_EQ(std::get<Immediate>(code[8].operands[1].value).bits, 32u);
    EXPECT_TRUE(code[9].operands[3].negated);
    EXPECT_TRUE(std::get<Immediate>(code[9].operands[2].value).is_double);
    EXPECT_TRUE(code[10].operands[3].negated);
    EXPECT_EQ(std::get<Immediate>(code[10].operands[2].value).bits, std::uint64_t(-16));
    EXPECT_EQ(std::get<Address>(code[12].operands[1].value).coordinates.size(), 2u);
    EXPECT_EQ(std::get<Symbol>(code[13].operands[1].value).addend, 4);
    EXPECT_EQ(code[14].operands[1].selector, "b0");
    EXPECT_EQ(code[14].operands[2].selector, "h1");
    EXPECT_EQ(std::get<Immediate>(code[15].operands[1].value).bits, 5u);
    EXPECT_EQ(std::get<Immediate>(code[16].operands[1].value).bits, 15u);
    EXPECT_EQ(std::get<Immediate>(code[17].operands[1].value).bits, 0xffffffffu);
    EXPECT_EQ(std::get<Immediate>(code[18].operands[1].value).bits, 18u);
    EXPECT_EQ(std::get<Immediate>(code[19].operands[1].value).bits, std::bit_cast<std::uint64_t>(0.15));
    EXPECT_TRUE(std::holds_alternative<Sink>(code[20].operands[0].value));
    EXPECT_TRUE(code[20].operands[0].pair.has_value());
    EXPECT_EQ(code[12].text.find('\n'), std::string::npos);
}

TEST(Parse, Initialisers) {
    const Module m = good(head +
                          ".func f() { ret; }\n"
                          ".global .align 4 .b8 a[6] = {1, 2, 0xff};\n"
                          ".global .b32 grid[2][3] = {{1, 2}, {4}};\n"
                          ".global .b32 flat[2][2] = {1, 2, 3};\n"
                          ".global .f32 one = 0f3F800000; .global .f64 two = 2.0; .global .s16 minus = -2;\n"
                          ".global .u64 table[3] = {f, generic(a)+4, a};\n"
                          ".global .u8 parts[2] = {0xff(a), 0xff00(a)};\n"
                          ".const .v2 .f32 pair = {1.0, 0f40000000};\n"
                          ".global .b16 open[] = {1, 2, 3};\n"
                          ".visible .global .align 8 .u64 scalar = {7};\n");
    EXPECT_EQ(bytes(variable(m, "a")), (std::vector<int>{1, 2, 255}));
    EXPECT_EQ(variable(m, "a").size, 6u);
    EXPECT_EQ(bytes(variable(m, "grid")), (std::vector<int>{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0}));
    EXPECT_EQ(variable(m, "grid").size, 24u);
    EXPECT_EQ(bytes(variable(m, "flat")), (std::vector<int>{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
    EXPECT_EQ(bytes(variable(m, "one")), (std::vector<int>{0, 0, 0x80, 0x3f}));
    EXPECT_EQ(bytes(variable(m, "two")), (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0x40}));
    EXPECT_EQ(bytes(variable(m, "minus")), (std::vector<int>{0xfe, 0xff}));
    const auto& table = variable(m, "table").relocations;
    ASSERT_EQ(table.size(), 3u);
    EXPECT_EQ(table[0].symbol, "f");
    EXPECT_TRUE(table[1].generic);
    EXPECT_EQ(table[1].addend, 4);
    EXPECT_EQ(table[2].offset, 16u);
    const auto& parts = variable(m, "parts").relocations;
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[1].shift, 8u);
    EXPECT_EQ(parts[1].width, 1u);
    EXPECT_EQ(bytes(variable(m, "pair")), (std::vector<int>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
    EXPECT_EQ(variable(m, "open").size, 6u);
    EXPECT_EQ(bytes(variable(m, "scalar"))[0], 7);
}

TEST(Parse, CallsPrototypesAndTables) {
    const Module m =
        good(head +
             ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 p0, .param .b64 p1);\n"
             ".extern .func __assertfail (.param .b64 a, .param .b32 b) .noreturn;\n"
             ".func (.param .align 16 .b8 func_retval0[16]) f(.param .b32 f_param_0, .reg .f32 %x)\n"
             "{ .reg .b32 %r<3>; ld.param.u32 %r1, [f_param_0]; st.param.b32 [func_retval0+4], %r1; ret; }\n"
             ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<2>;\n"
             "{ .param .b32 param0; .param .align 16 .b8 retval0[16];\n"
             "st.param.b32 [param0], 5;\n call.uni (retval0), f, (param0, %f1);\n ld.param.b32 %r1, "
             "[retval0+4]; }\n"
             "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b8 _[]) ;\n"
             "{ .param .b32 param0; .param .b32 retval0; call (retval0), %rd1, (param0), proto; }\n"
             "ts: .branchtargets L1, L0;\n brx.idx %r1, ts;\nL0: nop;\nL1: ret; }\n");
    const Function& f = m.functions[2];
    EXPECT_EQ(f.returns[0].offset, 16u);
    EXPECT_EQ(f.parameter_bytes, 32u);
    ASSERT_TRUE(f.parameters[1].in_register.has_value());
    const Function& k = m.functions[3];
    const Instruction& call = k.code[1];
    EXPECT_EQ(std::get<Symbol>(call.operands[0].value).function, 2);
    ASSERT_EQ(call.call_returns.size(), 1u);
    ASSERT_EQ(call.call_arguments.size(), 2u);
    EXPECT_EQ(std::get<Symbol>(call.call_arguments[0].value).variable, &k.locals[0]);
    EXPECT_EQ(std::get<Symbol>(std::get<Address>(k.code[0].operands[0].value).base).variable, &k.locals[0]);
    EXPECT_EQ(k.locals[1].offset, 16u);
    EXPECT_EQ(k.frame_bytes, 40u);
    EXPECT_TRUE(std::holds_alternative<Register>(k.code[3].operands[0].value));
    EXPECT_EQ(std::get<Name>(k.code[3].operands[1].value).index, 0);
    EXPECT_EQ(std::get<Name>(k.code[4].operands[1].value).index, 0);
    EXPECT_EQ(k.branch_tables[0], (std::vector<std::uint32_t>{6, 5}));
    EXPECT_TRUE(m.functions[0].is_extern);
    EXPECT_TRUE(m.functions[1].no_return);
}

TEST(Parse, SharedLayoutIsPerKernel) {
    const Module m =
        good(head +
             ".shared .align 4 .b8 common[12];\n.extern .shared .align 32 .b8 dyn[];\n"
             ".func g() { .shared .align 8 .b8 in_g[8]; .reg .b64 %rd<2>; mov.u64 %rd1, in_g; ret; }\n"
             ".global .u64 table[1] = {g};\n"
             ".entry a() { .shared .align 16 .b8 in_a[40]; .reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
             " ld.shared.b32 %r1, [in_a]; ld.shared.b32 %r1, [common]; call g; ret; }\n"
             ".entry b() { .shared .align 16 .b8 in_b[100]; .reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
             " ld.shared.b32 %r1, [in_b]; mov.u64 %rd1, dyn; mov.u64 %rd1, table; ret; }\n"
             ".entry c() { ret; }\n");
    const auto kernel_of = [&](const char* name) -> const Function& {
        return m.functions[static_cast<std::size_t>(m.find_function(name))];
    };
    const Variable& common = variable(m, "common");
    const Variable& in_g = variable(m, "in_g");
    EXPECT_EQ(common.offset, 0u);
    EXPECT_EQ(in_g.offset, 16u);
    EXPECT_EQ(variable(m, "in_a").offset, 32u);  // 12..16 and 24..32 are too small for it
    EXPECT_EQ(kernel_of("a").static_shared, 72u);
    EXPECT_FALSE(kernel_of("a").uses_dynamic_shared);
    EXPECT_EQ(variable(m, "in_b").offset, 32u);
    EXPECT_EQ(kernel_of("b").static_shared, 132u);  // g through the table
    EXPECT_TRUE(kernel_of("b").uses_dynamic_shared);
    EXPECT_EQ(kernel_of("b").dynamic_shared_offset, 160u);
    EXPECT_EQ(kernel_of("c").static_shared, 0u);
}

TEST(Parse, SourcePlaces) {
    const Module m =
        good(head +
             ".entry k() {\n.loc 1 10 0\nnop;\n.loc 2 5 3, function_name $L__info_string0, "
             "inlined_at 1 10 0\nnop;\n.loc 2 7 1, function_name $L__info_string0+4, inlined_at 2 5 3\n"
             "nop;\nret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.h\", 123, 456\n"
             ".section .debug_str\n{\n$L__info_string0:\n.b8 95\n.b8 0\n}\n");
    const auto& code = m.functions[0].code;
    EXPECT_EQ(m.files[static_cast<std::size_t>(code[0].source.file)], "a.cu");
    EXPECT_EQ(code[0].source.line, 10);
    EXPECT_EQ(code[0].source.outer_line, 0);
    EXPECT_EQ(m.files[static_cast<std::size_t>(code[1].source.file)], "b.h");
    EXPECT_EQ(m.files[static_cast<std::size_t>(code[2].source.outer_file)], "a.cu");
    EXPECT_EQ(code[2].source.outer_line, 10);
    EXPECT_EQ(code[2].source.ptx_line, 10);
    EXPECT_EQ(to_string(place_of(m, code[0])), "a.cu:10");
    EXPECT_EQ(to_string(place_of(m, code[1])), "a.cu:10");  // lines of the header are left out
    EXPECT_EQ(to_string(place_of(m, code[2])), "a.cu:10");
}

// The calls that lead to a line; a function that is inlined twice has the one that the latest .loc named.
TEST(Parse, InlinedCalls) {
    const Module m = good(head +
                          ".entry k() {\n.loc 1 6 5, function_name $L0, inlined_at 1 10 5\nnop;\n"
                          ".loc 1 2 5, function_name $L1, inlined_at 1 6 5\nnop;\n"
                          ".loc 1 6 5, function_name $L0, inlined_at 1 11 5\n"
                          ".loc 1 2 5, function_name $L1, inlined_at 1 6 5\nnop;\n"
                          ".loc 2 90 1, function_name $L2, inlined_at 1 2 5\nnop;\n.loc 1 12 1\nret;\n}\n"
                          ".entry other() {\n.loc 1 3 1, function_name $L1, inlined_at 1 6 5\nnop;\nret;\n}\n"
                          ".file 1 \"a.cu\"\n.file 2 \"b.h\"\n");
    const auto& code = m.functions[0].code;
    const auto text = [&](std::size_t i) { return to_string(place_of(m, code[i])); };
    EXPECT_EQ(text(0), "a.cu:6, inlined at a.cu:10");
    EXPECT_EQ(text(1), "a.cu:2, inlined at a.cu:6, inlined at a.cu:10");
    EXPECT_EQ(text(2), "a.cu:2, inlined at a.cu:6, inlined at a.cu:11");
    EXPECT_EQ(text(3), "a.cu:2, inlined at a.cu:6, inlined at a.cu:11");
    EXPECT_EQ(text(4), "a.cu:12");
    EXPECT_EQ(place_of(m, code[2]).inlined_at[0].column, 5);
    EXPECT_EQ(to_string(place_of(m, m.functions[1].code[0])), "a.cu:3, inlined at a.cu:6");
}

// A chain that never ends is cut.
TEST(Parse, InlinedIntoItself) {
    std::string text = head + ".entry k() {\n";
    for (int i = 0; i < 2000; ++i) text += ".loc 1 5 5, function_name $L0, inlined_at 1 5 5\nnop;\n";
    const Module m = good(text + "ret;\n}\n.file 1 \"a.cu\"\n");
    for (const Instruction& in : m.functions[0].code) EXPECT_LE(place_of(m, in).inlined_at.size(), 66u);
    EXPECT_LE(m.call_sites.size(), 66u);
}

TEST(Parse, AliasAndForwardDeclaration) {
    const Module m =
        good(head +
             ".func f(.param .b32 p);\n.func g(.param .b32 p);\n.alias g, f;\n"
             ".entry k() { .param .b32 a; call g, (a); ret; }\n.func f(.param .b32 p) { ret; }\n");
    const auto& code = m.functions[static_cast<std::size_t>(m.find_function("k"))].code;
    EXPECT_EQ(std::get<Symbol>(code[0].operands[0].value).function, m.find_function("f"));
    EXPECT_FALSE(m.functions[static_cast<std::size_t>(m.find_function("f"))].is_extern);
}

TEST(Parse, ABodyAlwaysEndsWithAReturn) {
    const Module m = kernel(".reg .pred %p<2>; @%p1 bra END; bra END;\nEND:");
    const auto& code = m.functions[0].code;
    ASSERT_EQ(code.size(), 3u);
    EXPECT_EQ(code[2].opcode, "ret");
    EXPECT_EQ(std::get<Label>(code[0].operands[0].value).target, 2u);
}

struct BadCase {
    const char* name;
    const char* body;
    int line;  // of the whole text; the body starts in line 6
    const char* message;
};

class BadBody : public testing::TestWithParam<BadCase> {};

TEST_P(BadBody, NamesTheLine) {
    const LoadError error =
        bad(head + ".visible .entry k(.param .u64 k_param_0)\n{\n" + GetParam().body + "\n}\n");
    EXPECT_EQ(error.ptx_line, GetParam().line) << error.message;
    EXPECT_NE(error.message.find(GetParam().message), std::string::npos) << error.message;
}

INSTANTIATE_TEST_SUITE_P(
    Parse, BadBody,
    testing::Values(BadCase{"register", "ret;\nmov.u32 %r1, 0;", 7, "`%r1`"},
                    BadCase{"range", ".reg .b32 %r<3>;\nmov.u32 %r3, 0;", 7, "`%r3`"},
                    BadCase{"label", "nop;\nbra NOWHERE;\nret;", 7, "`NOWHERE` is not declared"},
                    BadCase{"twice", "L: nop;\nL: ret;", 7, "defined twice"},
                    BadCase{"semicolon", ".reg .b32 %r<3>;\nmov.u32 %r1, %r2\nret;", 8, "`;` is expected"},
                    BadCase{"directive", ".wrong 1;", 6, "`.wrong`"},
                    BadCase{"callee", "call nobody;", 6, "`nobody`"},
                    BadCase{"guard", ".reg .b32 %r<3>;\n@%r1 ret;", 7, "predicate"},
                    BadCase{"division", ".reg .b32 %r<3>; mov.u32 %r1, 1/0;", 6, "cannot be computed"},
                    BadCase{"number", ".reg .b32 %r<3>; mov.u32 %r1, 12ab;", 6, "`12ab`"},
                    BadCase{"character", ".reg .b32 %r<3>;\n mov.u32 %r1, `;", 7, "expected"},
                    BadCase{"scope", "{ ret;", 8, "does not end"}),
    [](const auto& info) { return info.param.name; });

TEST(Parse, RefusesWhatItCannotDo) {
    EXPECT_EQ(bad(".version 9.0\n.target sm_80\n.address_size 32\n").kind, LoadError::Kind::unsupported);
    EXPECT_EQ(bad(head + ".global .texref t;").kind, LoadError::Kind::unsupported);
    EXPECT_EQ(bad("").ptx_line, 1);
    EXPECT_NE(bad(head + ".global .b8 a[4] = {1,2,3,4,5};").message.find("too many"), std::string::npos);
    EXPECT_NE(bad(head + ".global .u64 a = nothing;").message.find("`nothing`"), std::string::npos);
    EXPECT_NE(bad(head + ".global .b8 a[99999999999][99999999999];").message.find("too large"),
              std::string::npos);
}

TEST(Parse, AnErrorCarriesTheSourcePlace) {
    const LoadError error =
        bad(head + ".entry k() {\n.loc 1 33 2\nmov.u32 %r1, 0;\n}\n.file 1 \"kernel.cu\"\n");
    EXPECT_EQ(error.file, "kernel.cu");
    EXPECT_EQ(error.line, 33);
    EXPECT_EQ(error.instruction, "mov.u32 %r1, 0");
}

TEST(Parse, DeepNestingIsRefused) {
    const std::string many(100000, '{');
    bad(head + ".entry k() {" + many);
    bad(head + ".entry k() { .reg .b32 %r<2>; mov.u32 %r1, " + std::string(100000, '(') + "1;}");
    bad(head + ".entry k() { .reg .b32 %r<2>; mov.u32 " + many + "%r1, 1;}");
    bad(head + ".entry k() { .reg .b32 %r<2>; mov.u32 %r1, " + std::string(100000, '[') + "1;}");
    bad(head + ".entry k() { .reg .pred %p<2>; mov.pred %p1, " + std::string(99999, '!') + "%p1;}");
    bad(head + ".global .b8 a[2] = " + many);
    bad(head + ".entry k() { .reg .b32 %r<2>; mov.u32 %r1, 1" +
        [] {
            std::string chain;
            for (int i = 0; i < 50000; ++i) chain += "?1:1";
            return chain;
        }() +
        ";}");
}

// Any damage to a text gives a module or an error, soon, and an error names a line of the text.
TEST(Parse, DamagedTextNeverHarms) {
    const std::string seed =
        head +
        ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 p0, .param .b64 p1);\n"
        ".global .align 4 .b8 a[6] = {1, 2, 0xff}; .global .b32 grid[2][3] = {{1, 2}, {4}};\n"
        ".global .u64 table[2] = {vprintf, generic(a)+4}; .extern .shared .b8 dyn[];\n"
        ".visible .entry k(.param .u64 k_param_0, .param .align 8 .b8 k_param_1[24])\n.maxntid 32, 1, 1\n{\n"
        ".shared .b8 s[8]; .local .b8 depot[16]; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .reg "
        ".v2 .f32 v;\n"
        ".loc 1 2 3, function_name L, inlined_at 1 4 5\n@!%p1 bra L1;\nld.global.v2.f32 {v.x, _}, "
        "[%rd1+-(4*2)];\n"
        "{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0+0], %rd2;\n"
        "call.uni (retval0), vprintf, (param0, param0); ld.param.b32 %r1, [retval0]; }\n"
        "P: .callprototype (.param .b32 _) _ (.param .b64 _);\nT: .branchtargets L1, L1; brx.idx %r1, T;\n"
        "mov.b32 %r2, %tid.x; mov.u64 %rd3, depot+4; shfl.sync.idx.b32 %r1|%p2, %r2, 0, 31, 0xffffffff;\n"
        "L1: ret; /* end */ }\n.file 1 \"k.cu\"\n.section .debug_str { .b8 1 }\n";
    good(seed);
    std::mt19937 random(20240817);
    const std::string alphabet = "{}[]()<>,;:@!+-*/&|^~=?%.$_09afxUL \n\"\\#\x01\xff";
    const auto pick = [&](std::size_t n) { return random() % n; };
    int parsed = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < 30000; ++round) {
        std::string text = seed;
        for (std::size_t edits = 1 + pick(4); edits > 0; --edits) {
            const std::size_t at = pick(text.size()), length = pick(30);
            switch (pick(6)) {
                case 0:
                    text[at] = alphabet[pick(alphabet.size())];
                    break;
                case 1:
                    text.erase(at, length);
                    break;
                case 2:
                    text.insert(at, text.substr(pick(text.size()), length));
                    break;
                case 3:
                    text.insert(at, 1, alphabet[pick(alphabet.size())]);
                    break;
                case 4:
                    text.insert(at, std::to_string(std::uint64_t{random()} << pick(33)));
                    break;
                default:
                    text.resize(at + 1);
            }
            if (text.empty()) text = ".";
        }
        auto result = parse(text);
        if (const auto* error = std::get_if<LoadError>(&result)) {
            ASSERT_GT(error->ptx_line, 0) << error->message;
            ASSERT_FALSE(error->message.empty());
        } else {
            ++parsed;
        }
    }
    EXPECT_GT(parsed, 300);  // the damage is not always deadly
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(Parse, LargeTablesAreFast) {
    std::string text = head + ".global .align 4 .b32 table[200000] = {";
    for (int i = 0; i < 200000; ++i) text += (i ? ", " : "") + std::to_string(i * 2654435761u);
    text += "};\n";
    ASSERT_GT(text.size(), 2'000'000u);
    const auto begin = std::chrono::steady_clock::now();
    const Module m = good(text);
    const auto time = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(m.variables.at(0)->data.size(), 800000u);
    EXPECT_LT(time, std::chrono::seconds(2));
}

}  // namespace
}  // namespace emulator::ptx
