// Control flow that parts lanes and joins them again.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

void Generator::condition() {
    switch (random_.below(4)) {
        case 0:
            line("setp.{}.u32 %q, %lane, {};", expand("{lt|ge|eq|ne}"), random_.below(32));
            break;
        case 1:
            line("and.b32 %t0, %lane, {};", 1 + random_.below(7));
            line("setp.eq.u32 %q, %t0, {};", random_.below(3));
            break;
        case 2:
            line("setp.{}.s32 %q, {}, {};", expand("{lt|gt|ne}"), r(), r());
            break;
        default:
            line("mov.pred %q, {};", p());
            break;
    }
}

void Generator::branch(int depth) {
    const std::string other = label(), end = label();
    condition();
    const bool was = uniform_;
    line("@{}%q bra {};", random_.one_in(2) ? "!" : "", other);
    uniform_ = false;
    body(depth + 1, 1 + random_.below(3));
    const bool two_sides = random_.one_in(2);
    if (two_sides) line("bra{} {};", random_.one_in(8) ? ".uni" : "", end);
    put(other + ":");
    if (two_sides) body(depth + 1, 1 + random_.below(3));
    put(end + ":");
    uniform_ = was;
}

void Generator::loop(int depth) {
    const std::string again = label(), end = label();
    const bool same = random_.one_in(3), was = uniform_;
    const int counter = depth < 4 ? depth : 3;
    if (same)
        line("mov.u32 %c{}, {};", counter, 1 + random_.below(4));
    else {
        line("and.b32 %c{}, {}, {};", counter, random_.one_in(2) ? "%lane" : r(), random_.one_in(2) ? 3 : 7);
        if (random_.one_in(2)) line("add.u32 %c{0}, %c{0}, 1;", counter);
    }
    if (!same) uniform_ = false;
    const bool tests_first = random_.one_in(2);
    put(again + ":");
    if (tests_first) {
        line("setp.eq.u32 %q, %c{}, 0;", counter);
        line("@%q bra {};", end);
    }
    body(depth + 1, 1 + random_.below(4));
    if (random_.one_in(6)) {  // break
        condition();
        if (!uniform_) line("@%q bra {};", end);
    }
    if (tests_first) {
        line("sub.u32 %c{0}, %c{0}, 1;", counter);
        line("bra {};", again);
    } else {
        line("setp.gt.s32 %q, %c{}, 1;", counter);
        line("sub.u32 %c{0}, %c{0}, 1;", counter);
        line("@%q bra {};", again);
    }
    put(end + ":");
    uniform_ = was;
}

void Generator::ladder(int depth) {
    const std::string end = label();
    const bool was = uniform_, indexed = random_.one_in(2);
    const std::uint64_t ways = 2 + random_.below(3);
    std::vector<std::string> targets;
    for (std::uint64_t k = 0; k < ways; ++k) targets.push_back(label());
    line("and.b32 %t0, {}, 3;", random_.one_in(2) ? "%lane" : r());
    line("min.u32 %t0, %t0, {};", ways - 1);
    if (indexed) {
        const std::string table = fmt::format("T{}", labels_++);
        std::string all;
        for (const std::string& t : targets) all += (all.empty() ? "" : ", ") + t;
        line("{}: .branchtargets {};", table, all);
        line("brx.idx %t0, {};", table);
    } else {
        for (std::uint64_t k = 0; k + 1 < ways; ++k) {
            line("setp.eq.u32 %q, %t0, {};", k);
            line("@%q bra {};", targets[k]);
        }
        line("bra {};", targets.back());
    }
    uniform_ = false;
    for (std::uint64_t k = 0; k < ways; ++k) {
        put(targets[k] + ":");
        body(depth + 1, 1 + random_.below(2));
        if (!random_.one_in(4)) line("bra {};", end);
    }
    put(end + ":");
    uniform_ = was;
}

void Generator::call_function() {
    // A function calls those before it, so that calls nest and end.
    const auto callable = static_cast<std::uint64_t>(in_function_ ? function_ : functions_);
    if (callable == 0) return compute();
    const std::uint64_t f = random_.below(callable);
    put("    {");
    line(".param .b32 arg0;");
    line(".param .align 8 .b8 arg1[8];");
    line(".param .b32 ret0;");
    line("st.param.b32 [arg0], {};", r());
    line("st.param.b64 [arg1], {};", d());
    if (random_.one_in(3)) {
        const std::string prototype = fmt::format("proto{}", labels_++);
        line("mov.u64 %b, f{};", f);
        if (callable > 1 && random_.one_in(2)) {  // lanes call different ones
            line("mov.u64 %a, f{};", (f + 1) % callable);
            line("selp.b64 %b, %a, %b, {};", p());
        }
        line("{}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[8]);", prototype);
        line("{}call (ret0), %b, (arg0, arg1), {};", random_.one_in(3) ? "@" + p() + " " : "", prototype);
    } else {
        line("{}call{} (ret0), f{}, (arg0, arg1);", random_.one_in(3) ? "@" + p() + " " : "",
             random_.one_in(3) ? ".uni" : "", f);
    }
    // Lanes that did not call find what the function before left, or nothing.
    line("@%always ld.param.b32 {}, [ret0];", r());
    put("    }");
}

}  // namespace emulator::differential
