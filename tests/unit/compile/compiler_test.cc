// The whole way: request, worker, NVRTC, findings, cache.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <thread>

#include "harness/compile/nvrtc_compiler.h"
#include "harness/core/files.h"
#include "tests/support/temp_folder.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

constexpr const char* plain_kernel =
    "extern \"C\" __global__ void k(float* x, int n) {\n"
    "    __shared__ float s[64];\n"
    "    s[threadIdx.x] = x[threadIdx.x]; __syncthreads();\n"
    "    if (threadIdx.x < n) x[threadIdx.x] = s[63 - threadIdx.x];\n"
    "}\n";

std::string describe(const CompileOutcome& outcome) {
    std::string out;
    if (outcome.environment) out += outcome.environment->str() + "\n";
    for (const Diagnostic& d : outcome.diagnostics) out += to_line(d) + "\n";
    return out;
}

class Compile : public testing::Test {
  protected:
    static CompilerConfig uncached() {
        CompilerConfig config;
        config.cache_folder = fs::path();
        return config;
    }
    CompilerConfig cached() const {
        CompilerConfig config;
        config.cache_folder = folder_ / "cache";
        return config;
    }
    static CompileRequest request(const std::string& source) {
        CompileRequest out;
        out.file = "dir/plain.cu";
        out.source = source;
        return out;
    }
    std::vector<fs::path> entries() const {
        std::vector<fs::path> out;
        for (const auto& entry : fs::recursive_directory_iterator(folder_ / "cache")) {
            if (entry.is_regular_file()) out.push_back(entry.path());
        }
        return out;
    }

    TempFolder temp_;
    const fs::path folder_ = temp_.path();
};

TEST_F(Compile, MakesPtxMachineCodeAndFacts) {
    const auto compiler = make_compiler(uncached());
    const CompileOutcome outcome = compiler->compile(request(plain_kernel));
    ASSERT_TRUE(outcome.build) << describe(outcome);
    const Build& build = *outcome.build;
    EXPECT_NE(build.ptx.find(".visible .entry k("), std::string::npos);
    EXPECT_NE(build.ptx.find("\"plain.cu\""), std::string::npos);
    EXPECT_GT(build.cubin.size(), 1000U);
    ASSERT_EQ(build.kernels.count("k"), 1U);
    const KernelResources& facts = build.kernels.at("k");
    EXPECT_EQ(facts.static_shared, 256U);
    EXPECT_GT(facts.registers, 3);
    EXPECT_EQ(facts.barriers, 1);
    EXPECT_GE(facts.code_bytes, 128U);
    EXPECT_FALSE(build.cached);
    EXPECT_EQ(build.target, "sm_80");
    EXPECT_NE(build.nvrtc_version.find('.'), std::string::npos);
}

TEST_F(Compile, IsTheSameTwice) {
    const auto compiler = make_compiler(uncached());
    const CompileOutcome first = compiler->compile(request(plain_kernel));
    const CompileOutcome again = compiler->compile(request(plain_kernel));
    ASSERT_TRUE(first.build && again.build);
    EXPECT_EQ(first.build->ptx, again.build->ptx);
    EXPECT_EQ(first.build->cubin, again.build->cubin);
}

TEST_F(Compile, KnowsEveryTarget) {
    const auto compiler = make_compiler(uncached());
    std::vector<std::string> targets{"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"};
    const auto nvrtc = find_nvrtc();
    ASSERT_TRUE(nvrtc);
    if (nvrtc->version >= NvrtcVersion{12, 8})
        targets.insert(targets.end(), {"sm_100", "sm_100a", "sm_120", "sm_120a"});
    if (nvrtc->version >= NvrtcVersion{13, 0}) {
        targets.insert(targets.end(),
                       {"sm_88", "sm_100f", "sm_103", "sm_103a", "sm_110", "sm_110a", "sm_120f", "sm_121a"});
    }
    for (const std::string& target : targets) {
        CompileRequest wanted = request(plain_kernel);
        wanted.target = target;
        const CompileOutcome outcome = compiler->compile(wanted);
        ASSERT_TRUE(outcome.build) << target << ": " << describe(outcome);
        EXPECT_NE(outcome.build->ptx.find(".target " + target), std::string::npos) << target;
        EXPECT_GT(outcome.build->kernels.at("k").registers, 0) << target;
        EXPECT_GT(outcome.build->kernels.at("k").code_bytes, 0U) << target;
        EXPECT_EQ(outcome.build->kernels.at("k").static_shared % 256, 0U) << target;
    }
}

TEST_F(Compile, OptionsReachTheCompiler) {
    const auto compiler = make_compiler(uncached());
    const std::string source =
        "extern \"C\" __global__ void k(float* x) { x[0] = expf(x[1]) * x[2] + x[3]; }";
    CompileRequest fast = request(source), unfused = request(source);
    fast.options = {"--use_fast_math"};
    unfused.options = {"--fmad=false"};
    const auto plain = compiler->compile(request(source)), fast_built = compiler->compile(fast),
               unfused_built = compiler->compile(unfused);
    ASSERT_TRUE(plain.build && fast_built.build && unfused_built.build);
    EXPECT_NE(plain.build->ptx, fast_built.build->ptx);
    EXPECT_NE(fast_built.build->ptx.find("ex2.approx.ftz"), std::string::npos);
    EXPECT_NE(unfused_built.build->ptx.find("mul.rn.f32"), std::string::npos);
}

TEST_F(Compile, LineNumbersAreTheFilesOwn) {
    const auto compiler = make_compiler(uncached());
    const CompileOutcome outcome = compiler->compile(request(plain_kernel));
    ASSERT_TRUE(outcome.build);
    EXPECT_NE(outcome.build->ptx.find(".loc\t1 4 "), std::string::npos);
    EXPECT_EQ(outcome.build->ptx.find(".loc\t1 6 "), std::string::npos);
}

TEST_F(Compile, ForgottenExternCIsNamed) {
    const auto compiler = make_compiler(uncached());
    const CompileOutcome outcome = compiler->compile(request("__global__ void vadd(float* x) { x[0] = 1; }"));
    ASSERT_TRUE(outcome.build) << describe(outcome);
    const auto symbol = kernel_symbol(*outcome.build, "vadd", "f.cu");
    ASSERT_FALSE(symbol);
    EXPECT_EQ(symbol.error().rule, "kernel-not-found");
    EXPECT_EQ(symbol.error().stage, Stage::plan);
    EXPECT_NE(symbol.error().message.find("_Z4vaddPf"), std::string::npos);
    EXPECT_NE(symbol.error().hint.find("extern \"C\""), std::string::npos);
    EXPECT_NE(kernel_symbol(*outcome.build, "other", "f.cu").error().hint.find("_Z4vaddPf"),
              std::string::npos);
    EXPECT_EQ(*kernel_symbol(*outcome.build, "_Z4vaddPf", "f.cu"), "_Z4vaddPf");
}

TEST_F(Compile, AFloodOfMessagesIsCappedAndTheErrorFound) {
    std::string source = "extern \"C\" __global__ void k(float* x) { x[0] = lost; }\n";
    for (int i = 0; i < 4000; ++i) source += "#pragma message(\"" + std::string(500, 'f') + "\")\n";
    const auto compiler = make_compiler(uncached());
    const CompileOutcome outcome = compiler->compile(request(source));
    ASSERT_FALSE(outcome.build);
    ASSERT_EQ(outcome.diagnostics.size(), 1U) << describe(outcome);
    EXPECT_EQ(outcome.diagnostics[0].line, 1);
    // Without the error the log of the build is capped.
    const CompileOutcome good =
        compiler->compile(request(std::string(plain_kernel) + source.substr(source.find("#pragma"))));
    ASSERT_TRUE(good.build) << describe(good);
    EXPECT_LT(good.build->log.size(), 100'000U);
    EXPECT_EQ(good.build->kernels.at("k").static_shared, 256U);
}

TEST_F(Compile, ForgedFactsDoNotCount) {
    const std::string forged =
        "#pragma message(\"x\\nptxas info    : Compiling entry function 'k' for 'sm_80'\\nptxas info    : "
        "Used 1 "
        "registers, 7 bytes smem\\nptxas info    : Compiling entry function 'other' for 'sm_80'\")\n";
    const auto compiler = make_compiler(uncached());
    const CompileOutcome outcome = compiler->compile(request(plain_kernel + forged));
    ASSERT_TRUE(outcome.build) << describe(outcome);
    EXPECT_EQ(outcome.build->kernels.size(), 1U);
    EXPECT_EQ(outcome.build->kernels.at("k").static_shared, 256U);
    EXPECT_GT(outcome.build->kernels.at("k").registers, 3);
}

TEST_F(Compile, NothingOfTheHostIsInTheLog) {
    const auto compiler = make_compiler(uncached());
    for (const char* file : {"/etc/passwd", "/etc/group", "/proc/self/environ", "/proc/self/maps"}) {
        const CompileOutcome outcome =
            compiler->compile(request(std::string("#include \"") + file + "\"\n" + plain_kernel));
        ASSERT_FALSE(outcome.build) << file;
        for (const Diagnostic& d : outcome.diagnostics) {
            const std::string all = to_json(d).dump();
            for (const char* secret : {"root:", "KERNELWRIGHT_IN_WORKER", "r-xp"}) {
                EXPECT_EQ(all.find(secret), std::string::npos) << all;
            }
        }
    }
}

TEST_F(Compile, AHostFileIsHiddenEvenWithoutTheSandbox) {
    CompilerConfig open = uncached();
    open.sandbox = SandboxMode::off;
    const fs::path secret = folder_ / "secret.h";
    std::ofstream(secret) << "the_secret_word = 1;\n";
    const auto compiler = make_compiler(open);
    const CompileOutcome outcome =
        compiler->compile(request("#include \"" + secret.string() + "\"\n" + plain_kernel));
    ASSERT_FALSE(outcome.build);
    for (const Diagnostic& d : outcome.diagnostics) {
        EXPECT_EQ(to_json(d).dump().find("the_secret_word"), std::string::npos) << to_line(d);
        EXPECT_EQ(d.rule, "host-include") << to_line(d);
    }
}

TEST_F(Compile, RefusesWhatIsNoSource) {
    const auto compiler = make_compiler(uncached());
    CompileOutcome outcome = compiler->compile(request(std::string("int x;\n\0binary", 14)));
    ASSERT_EQ(outcome.diagnostics.size(), 1U);
    EXPECT_EQ(outcome.diagnostics[0].rule, "binary-source");
    EXPECT_EQ(outcome.diagnostics[0].line, 2);
    outcome = compiler->compile(request(std::string(std::size_t{100} << 20, ' ')));
    ASSERT_EQ(outcome.diagnostics.size(), 1U);
    EXPECT_EQ(outcome.diagnostics[0].stage, Stage::limits);
    std::string noise;
    for (unsigned i = 1; i < 20'000; ++i) noise += static_cast<char>(1 + (i * 2654435761U >> 13) % 255);
    outcome = compiler->compile(request(noise));
    ASSERT_FALSE(outcome.build);
    ASSERT_FALSE(outcome.diagnostics.empty());
    for (const Diagnostic& d : outcome.diagnostics)
        EXPECT_FALSE(to_json(d).dump(-1, ' ', false, Json::error_handler_t::replace).empty());
    outcome = compiler->compile(request(""));
    ASSERT_TRUE(outcome.build) << describe(outcome);
    EXPECT_TRUE(outcome.build->kernels.empty());
}

TEST_F(Compile, GoesOnAfterAWorkerWasLost) {
    const auto compiler = make_compiler(uncached());
    ASSERT_TRUE(compiler->compile(request(plain_kernel)).build);
    CompileRequest endless = request(
        "template <int N, unsigned long long P> struct B { static constexpr unsigned long long v = B<N - 1, "
        "P * 2>::v + B<N "
        "- 1, P * 2 + 1>::v; };\ntemplate <unsigned long long P> struct B<0, P> { static constexpr unsigned "
        "long long v = "
        "P; };\nextern \"C\" __global__ void k(unsigned long long* x) { x[0] = B<40, 1>::v; }");
    endless.time_limit = std::chrono::milliseconds(300);
    const CompileOutcome lost = compiler->compile(endless);
    ASSERT_EQ(lost.diagnostics.size(), 1U);
    EXPECT_EQ(lost.diagnostics[0].rule, "compile-time-limit");
    EXPECT_EQ(lost.diagnostics[0].stage, Stage::limits);
    EXPECT_TRUE(compiler->compile(request(plain_kernel)).build);
}

TEST_F(Compile, WorksFromSeveralThreads) {
    const auto compiler = make_compiler(cached());
    std::vector<std::thread> threads;
    std::vector<int> good(4, 0);
    for (std::size_t t = 0; t < good.size(); ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 3; ++i) {
                CompileRequest wanted = request(plain_kernel);
                wanted.defines["N"] = std::to_string(i);
                good[t] += compiler->compile(wanted).build.has_value() ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(good, (std::vector<int>{3, 3, 3, 3}));
    EXPECT_EQ(entries().size(), 3U);
}

TEST_F(Compile, CacheHitsAndMisses) {
    CompileRequest wanted = request(plain_kernel);
    const CompileOutcome first = make_compiler(cached())->compile(wanted);
    ASSERT_TRUE(first.build) << describe(first);
    EXPECT_FALSE(first.build->cached);
    const auto compiler = make_compiler(cached());
    const CompileOutcome again = compiler->compile(wanted);
    ASSERT_TRUE(again.build);
    EXPECT_TRUE(again.build->cached);
    EXPECT_EQ(again.build->ptx, first.build->ptx);
    EXPECT_EQ(again.build->cubin, first.build->cubin);
    EXPECT_EQ(again.build->kernels, first.build->kernels);
    EXPECT_EQ(again.build->warnings, first.build->warnings);
    EXPECT_EQ(again.build->log, first.build->log);

    const auto is_a_miss = [&](CompileRequest changed) {
        const CompileOutcome outcome = compiler->compile(changed);
        ASSERT_TRUE(outcome.build) << describe(outcome);
        EXPECT_FALSE(outcome.build->cached);
    };
    CompileRequest changed = wanted;
    changed.source += "\n";
    is_a_miss(changed);
    changed = wanted;
    changed.target = "sm_90";
    is_a_miss(changed);
    changed = wanted;
    changed.options = {"--use_fast_math"};
    is_a_miss(changed);
    changed = wanted;
    changed.defines["A"] = "1";
    is_a_miss(changed);
    changed = wanted;
    changed.file = "other.cu";
    is_a_miss(changed);
    EXPECT_EQ(entries().size(), 6U);
}

TEST_F(Compile, TornCacheEntriesAreMisses) {
    const CompileRequest wanted = request(plain_kernel);
    const auto compiler = make_compiler(cached());
    ASSERT_TRUE(compiler->compile(wanted).build);
    ASSERT_EQ(entries().size(), 1U);
    const fs::path entry = entries()[0];
    const std::string whole = *read_file(entry);
    for (const std::string& torn : {whole.substr(0, whole.size() / 2), std::string(), std::string("nonsense"),
                                    whole.substr(0, whole.size() - 1), whole + "x"}) {
        std::ofstream(entry, std::ios::binary) << torn;
        const CompileOutcome outcome = compiler->compile(wanted);
        ASSERT_TRUE(outcome.build) << describe(outcome);
        EXPECT_FALSE(outcome.build->cached);
        EXPECT_EQ(*read_file(entry), encode_build(*outcome.build));
    }
    EXPECT_TRUE(compiler->compile(wanted).build->cached);
}

TEST_F(Compile, WorksWithoutAPlaceForTheCache) {
    CompilerConfig config;
    std::ofstream(folder_ / "file") << "x";
    config.cache_folder = folder_ / "file" / "below";
    EXPECT_TRUE(make_compiler(config)->compile(request(plain_kernel)).build);
}

TEST_F(Compile, MissingNvrtcIsAnEnvironmentError) {
    ::setenv("KERNELWRIGHT_NVRTC", (folder_ / "nothing").c_str(), 1);
    const CompileOutcome outcome = make_compiler(uncached())->compile(request(plain_kernel));
    ::unsetenv("KERNELWRIGHT_NVRTC");
    EXPECT_FALSE(outcome.build);
    EXPECT_TRUE(outcome.diagnostics.empty());
    ASSERT_TRUE(outcome.environment);
    EXPECT_NE(outcome.environment->message.find("KERNELWRIGHT_NVRTC"), std::string::npos);
    EXPECT_NE(outcome.environment->hint.find("install a CUDA toolkit"), std::string::npos);
    EXPECT_EQ(outcome.environment->str().find('\n'), std::string::npos);
}

TEST_F(Compile, AProgramThatIsNoWorkerIsAnEnvironmentError) {
    CompilerConfig config = uncached();
    config.worker_program = "/bin/true";
    const CompileOutcome outcome = make_compiler(config)->compile(request(plain_kernel));
    ASSERT_TRUE(outcome.environment);
    EXPECT_FALSE(outcome.environment->message.empty());
}

TEST_F(Compile, RunsUnderTheRequiredSandbox) {
    CompilerConfig config = uncached();
    config.sandbox = SandboxMode::require;
    const CompileOutcome outcome = make_compiler(config)->compile(request(plain_kernel));
    EXPECT_TRUE(outcome.build ||
                (outcome.environment && outcome.environment->message.find("landlock") != std::string::npos))
        << describe(outcome);
}

}  // namespace
}  // namespace kernelwright
