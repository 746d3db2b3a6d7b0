// Products of matrices and what moves their fragments: whole warps.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

void Generator::matrix() {
    if (program_.block.count() % 32 != 0 || has_exits_) return collective();
    const auto vector = [&](char kind, unsigned n, bool write) {
        const std::string text = registers(kind, n, write);
        return n == 1 ? "{" + text + "}" : text;
    };
    const std::uint64_t way = random_.below(4);
    if (way == 0) {
        const unsigned n = 1u << random_.below(3);
        line("bar.sync 0;");
        const std::string form = fmt::format("sync.aligned.m8n8.x{}{}.{}.b16", n, expand("{|.trans}"),
                                             expand("{shared|shared::cta}"));
        const std::uint64_t at = 16 * random_.below(2);
        if (random_.one_in(2))
            line("ldmatrix.{} {}, [%sown+{}];", form, vector('r', n, true), at);
        else
            line("stmatrix.{} [%sown+{}], {};", form, at, vector('r', n, false));
        return line("bar.sync 0;");
    }
    if (way == 1) return line("movmatrix.sync.aligned.m8n8.trans.b16 {}, {};", r(), r());
    struct ProductForm {
        const char* name;
        unsigned d, a, b;
    };
    static const std::vector<ProductForm> forms = {
        {"m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1},
        {"m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1},
        {"m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2},
        {"m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2},
        {"m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1},
        {"m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2},
        {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1},
        {"m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2},
        {"m16n8k16.row.col.f32.{e4m3|e5m2}.{e4m3|e5m2}.f32", 4, 2, 1},
        {"m16n8k32.row.col.f32.{e4m3|e5m2}.{e4m3|e5m2}.f32", 4, 4, 2},
        {"m16n8k32.row.col.f16.{e4m3|e5m2}.{e4m3|e5m2}.f16", 2, 4, 2},
        {"m8n8k16.row.col{|.satfinite}.s32.{s8|u8}.{s8|u8}.s32", 2, 1, 1},
        {"m16n8k16.row.col{|.satfinite}.s32.{s8|u8}.{s8|u8}.s32", 4, 2, 1},
        {"m16n8k32.row.col{|.satfinite}.s32.{s8|u8}.{s8|u8}.s32", 4, 4, 2},
        {"m8n8k32.row.col{|.satfinite}.s32.{s4|u4}.{s4|u4}.s32", 2, 1, 1},
        {"m16n8k32.row.col{|.satfinite}.s32.{s4|u4}.{s4|u4}.s32", 4, 2, 1},
        {"m16n8k64.row.col{|.satfinite}.s32.{s4|u4}.{s4|u4}.s32", 4, 4, 2},
        {"m8n8k128.row.col.s32.b1.b1.s32.{xor|and}.popc", 2, 1, 1},
        {"m16n8k128.row.col.s32.b1.b1.s32.{xor|and}.popc", 4, 2, 1},
        {"m16n8k256.row.col.s32.b1.b1.s32.{xor|and}.popc", 4, 4, 2}};
    if (way == 2 && random_.one_in(2))
        return line("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {}, {}, {}, {};", vector('d', 2, true),
                    vector('d', 1, false), vector('d', 1, false), vector('d', 2, false));
    const ProductForm& form = random_.pick(forms);
    line("mma.sync.aligned.{} {}, {}, {}, {};", expand(form.name), vector('r', form.d, true),
         vector('r', form.a, false), vector('r', form.b, false), vector('r', form.d, false));
}

}  // namespace emulator::differential
