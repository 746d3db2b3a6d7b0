#include "skills/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace kernelwright {
namespace {

using ::testing::HasSubstr;

// Runs `body` as a function of c and gives its result, or the error.
Result<Json> run(const std::string& body, const Json& context = Json::object()) {
    Sandbox sandbox;
    if (auto status = sandbox.load("return { f = function(c) " + body + " end }", "rule.lua"); !status)
        return status.error();
    return sandbox.call(Json::array({"f"}), context);
}

TEST(Sandbox, ComputesWhatRulesNeed) {
    EXPECT_EQ(*run("return 1 + 2"), 3);
    EXPECT_EQ(*run("return c.a.b[2] * 2", {{"a", {{"b", {1, 2.5}}}}}), 5.0);
    EXPECT_EQ(*run("return ('%d of %.1f'):format(3, 4.25)"), "3 of 4.2");
    EXPECT_EQ(*run("local n = 0 for k, v in pairs(c) do n = n + v end return n", {{"x", 1}, {"y", 2}}), 3);
    EXPECT_EQ(*run("local t = {3, 1, 2} table.sort(t) return table.concat(t, ',')"), "1,2,3");
    EXPECT_EQ(*run("return string.find('a.b', '.', 1)"), 2) << "find takes no pattern";
    EXPECT_EQ(*run("return c.missing == nil"), true);
    EXPECT_EQ(*run("return"), nullptr);
    EXPECT_EQ(*run("return math.floor(2.7), 9"), 2);
    EXPECT_EQ(*run("return tostring({})"), "table") << "no address, which differs from run to run";
    EXPECT_EQ(*run("return {1, 2, {x = true}}"), (Json{1, 2, {{"x", true}}}));
    EXPECT_EQ(*run("return #c.list", {{"list", Json::array()}}), 0);
}

// Each of these must fail, quickly, with one line; none may reach the outside or take the process down.
struct Escape {
    const char* name;
    const char* body;
    const char* says;
};

class Escapes : public ::testing::TestWithParam<Escape> {};

TEST_P(Escapes, FailCleanly) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = run(GetParam().body);
    const auto took = std::chrono::steady_clock::now() - start;
    ASSERT_FALSE(result.ok()) << result->dump();
    EXPECT_THAT(result.error().message, HasSubstr(GetParam().says));
    EXPECT_EQ(result.error().file, "rule.lua");
    EXPECT_LT(took, std::chrono::seconds(20));
}

INSTANTIATE_TEST_SUITE_P(
    Sandbox, Escapes,
    ::testing::Values(
        Escape{"os", "return os.execute('id')", "nil value (global 'os')"},
        Escape{"io", "return io.open('/etc/passwd')", "nil value (global 'io')"},
        Escape{"load", "return load('return 1')()", "nil value (global 'load')"},
        Escape{"loadstring", "return loadstring('return 1')()", "nil value"},
        Escape{"dofile", "return dofile('/etc/passwd')", "nil value"},
        Escape{"loadfile", "return loadfile('/etc/passwd')", "nil value"},
        Escape{"require", "return require('os')", "nil value"},
        Escape{"package", "return package.loaded.os", "nil value"},
        Escape{"debug", "return debug.getregistry()", "nil value"},
        Escape{"global_table", "return _G.os", "nil value"},
        Escape{"coroutine", "return coroutine.wrap(function() end)()", "nil value"},
        Escape{"pcall", "return pcall(error)", "nil value"},
        Escape{"setmetatable", "return setmetatable({}, {})", "nil value"},
        Escape{"getmetatable", "return getmetatable('').__index.dump", "nil value"},
        Escape{"rawset", "return rawset({}, 1, 1)", "nil value"},
        Escape{"collectgarbage", "return collectgarbage('stop')", "nil value"},
        Escape{"print", "return print(1)", "nil value"},
        Escape{"dump", "return string.dump(function() end)", "nil value (field 'dump')"},
        Escape{"dump_by_method", "return ('x').dump(function() end)", "nil value"},
        Escape{"gsub", "return ('x'):gsub('.', 'y')", "nil value"},
        Escape{"match", "return ('x'):match('.-.-.-.-b')", "nil value"},
        Escape{"random", "return math.random()", "nil value"},
        Escape{"move", "return table.move({}, 1, 1e9, 2)", "nil value"},
        Escape{"rep_bomb", "return ('x'):rep(1e9)", ""},
        Escape{"rep_overflow", "return ('xxxxxxxx'):rep(math.maxinteger)", "too large"},
        Escape{"rep_loop", "local s = 'x' while true do s = s .. s end", "memory limit"},
        Escape{"rep_often", "local s while true do s = ('x'):rep(100000) end", "instruction budget"},
        Escape{"compare_often",
               "local a, b = ('x'):rep(200000), ('x'):rep(199999) .. 'x' local n = 0 "
               "while true do if a == b then n = n + 1 end end",
               "instruction budget"},
        Escape{"memory_bomb", "local t = {} for i = 1, 1e9 do t[i] = {i} end", "memory limit"},
        Escape{"endless_loop", "while true do end", "instruction budget"},
        Escape{"endless_for", "for i = 1, math.huge do end", "instruction budget"},
        Escape{"endless_goto", "::a:: goto a", "instruction budget"},
        Escape{"insert_front", "local t = {} for i = 1, 1e6 do table.insert(t, 1, i) end", ""},
        Escape{"concat_often",
               "local t = {} for i = 1, 20000 do t[i] = '' end while true do table.concat(t) end",
               "instruction budget"},
        Escape{"sort_badly",
               "local t = {} for i = 1, 20000 do t[i] = i end table.sort(t, function() return true end)", ""},
        Escape{"recursion", "local function f() return 1 + f() end return f()", ""},
        Escape{"unpack_bomb", "return table.unpack({}, 1, 1e8)", "too many results"},
        Escape{"format_bomb", "return ('%099999d'):format(1)", "invalid"},
        Escape{"global_state", "count = 1 return count", "write `local count`"},
        Escape{"change_library", "string = nil", "write `local string`"},
        Escape{"nil_arithmetic", "return c.counters.x + 1", "attempt to index a nil value"},
        Escape{"error_value", "local t = {} return t < t", "attempt to compare"},
        Escape{"function_result_cycle", "local t = {} for i = 1, 9 do t[i] = t end return t", ""},
        Escape{"deep_result", "local t = {} for i = 1, 100 do t = {t} end return t", "nested too deeply"},
        Escape{"wide_result", "local t = {} for i = 1, 20000 do t[i] = i end return t", "too large"},
        Escape{"key_result", "return {[1.5] = 1}", "key"},
        Escape{"mixed_result", "return {1, x = 2}", "both a list and a map"}),
    [](const auto& info) { return info.param.name; });

TEST(Sandbox, BytecodeIsRefused) {
    Sandbox sandbox;
    const auto status = sandbox.load(std::string("\x1bLua\x54\x00\x19\x93\r\n\x1a\n", 12), "rule.lua");
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("binary"));
}

TEST(Sandbox, ErrorsNameTheLine) {
    Sandbox sandbox;
    auto status = sandbox.load("local x = 1\nlocal y = = 2\n", "rules/a.lua");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().line, 2);
    EXPECT_EQ(status.error().file, "rules/a.lua");
    ASSERT_TRUE(sandbox.load("return {\n f = function(c)\n  return c.a.b\n end }", "rules/b.lua").ok());
    auto result = sandbox.call(Json::array({"f"}), Json::object());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().line, 3);
    EXPECT_THAT(result.error().message, HasSubstr("attempt to index a nil value (field 'a')"));
}

TEST(Sandbox, ACallCannotChangeWhatTheNextOneSees) {
    Sandbox sandbox;
    ASSERT_TRUE(sandbox.load("return { f = function(c) c.n = c.n + 1 return c.n end }", "rule.lua").ok());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(*sandbox.call(Json::array({"f"}), {{"n", 1}}), 2);
}

TEST(Sandbox, WorksAfterAnError) {
    Sandbox sandbox;
    ASSERT_TRUE(
        sandbox
            .load("return { bomb = function() local t = {} while true do t[#t + 1] = 'x' .. #t end end, "
                  "fine = function() return 7 end }",
                  "rule.lua")
            .ok());
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(sandbox.call(Json::array({"bomb"}), {}).ok());
        EXPECT_EQ(*sandbox.call(Json::array({"fine"}), {}), 7);
    }
}

TEST(Sandbox, WrongPathsAndHugeArgumentsAreErrors) {
    Sandbox sandbox;
    EXPECT_FALSE(sandbox.call(Json::array({"f"}), {}).ok()) << "nothing is loaded";
    ASSERT_TRUE(sandbox.load("return { f = 1 }", "rule.lua").ok());
    EXPECT_FALSE(sandbox.call(Json::array({"f"}), {}).ok());
    EXPECT_FALSE(sandbox.call(Json::array({"f", "g", 3}), {}).ok());
    EXPECT_FALSE(sandbox.call(Json::array({"none"}), {}).ok());
    ASSERT_TRUE(sandbox.load("return { f = function() return 1 end }", "rule.lua").ok());
    Json deep = 1;
    for (int i = 0; i < 200; ++i) deep = Json::array({deep});
    EXPECT_FALSE(sandbox.call(Json::array({"f"}), deep).ok());
    EXPECT_FALSE(sandbox.call(Json::array({"f"}), Json(std::string(4 << 20, 'x'))).ok());
    EXPECT_EQ(*sandbox.call(Json::array({"f"}), Json(nullptr)), 1);
    EXPECT_FALSE(Sandbox(SandboxLimits{.memory = 1000}).load("return 1", "rule.lua").ok());
    EXPECT_FALSE(sandbox.load(std::string(100'000, ' '), "rule.lua").ok());
}

TEST(Sandbox, AnyMemoryLimitEndsInAnErrorOrAResult) {
    for (std::size_t memory = 0; memory < 60'000; memory += 777) {
        Sandbox sandbox(SandboxLimits{.memory = memory});
        if (!sandbox.load("local t = {} for i = 1, 100 do t[i] = {i} end return { t, f = 1 and nil }",
                          "rule.lua"))
            continue;
        (void)sandbox.value();
    }
}

TEST(Sandbox, TornSourcesNeverCrash) {
    const std::string source =
        "return skill{ id = 'a', pre = { {'x', function(c) return (c.a or 0) > 1 and c.b ~= nil end} }, "
        "advice = function(c) return ('%d'):format(c.n) end, expect = { {'m', 'up', 0.5} } }";
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string torn = source;
        for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
            const std::size_t at = random() % torn.size();
            switch (random() % 3) {
                case 0:
                    torn.erase(at, 1 + random() % 5);
                    break;
                case 1:
                    torn[at] = static_cast<char>(random());
                    break;
                default:
                    torn.insert(at, torn.substr(random() % torn.size(), random() % 20));
            }
            if (torn.empty()) torn = "x";
        }
        Sandbox sandbox;
        if (!sandbox.load(torn, "rule.lua")) continue;
        (void)sandbox.value();
        (void)sandbox.call(Json::array({"pre", 1, 2}), {{"a", 2}});
        (void)sandbox.call(Json::array({"advice"}), {{"n", 2}});
    }
}

}  // namespace
}  // namespace kernelwright
