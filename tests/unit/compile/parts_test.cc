// The pure parts: log, PTX lines, machine code, cache form, requests, the search for NVRTC.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "harness/compile/build_cache.h"
#include "harness/compile/cubin.h"
#include "harness/compile/findings.h"
#include "harness/compile/nvrtc_library.h"
#include "harness/compile/nvrtc_log.h"
#include "harness/compile/ptx_lines.h"
#include "harness/compile/stub_headers.h"
#include "tests/support/temp_folder.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

constexpr const char* sample_log =
    "d.cu(4): error: identifier \"foo\" is undefined\n"
    "    int q = foo(n);\n"
    "            ^\n"
    "\n"
    "d.cu(6): warning #177-D: variable \"unused\" was declared but never referenced\n"
    "    int unused;\n"
    "        ^\n"
    "\n"
    "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
    "\n"
    "d.cu(2): error: expression must have class type but it has type \"int\"\n"
    "  template<class T> __device__ T twice(T x){ return x.bar()*2; }\n"
    "                                                    ^\n"
    "          detected during instantiation of \"T twice(T) [with T=int]\" at line 8\n"
    "\n"
    "g.cu(1): error: more than one instance of overloaded function \"sin\" matches the argument list:\n"
    "            function \"sin(float)\" (declared implicitly)\n"
    "            argument types are: (int)\n"
    "  sin(n)\n"
    "  ^\n"
    "\n"
    "odd(1).cu(7): catastrophic error: cannot open source file \"x\"\n"
    "ptxas application ptx input, line 36; error   : Unknown modifier '.s33'\n"
    "ptxas fatal   : Ptx assembly aborted due to errors\n";

TEST(NvrtcLog, IsReadIntoEntries) {
    const auto entries = parse_nvrtc_log(sample_log);
    ASSERT_EQ(entries.size(), 7U);
    EXPECT_EQ(entries[0].file, "d.cu");
    EXPECT_EQ(entries[0].line, 4);
    EXPECT_EQ(entries[0].column, 11);
    EXPECT_EQ(entries[0].message, "identifier \"foo\" is undefined");
    EXPECT_EQ(entries[1].severity, Severity::warning);
    EXPECT_EQ(entries[1].number, 177);
    ASSERT_EQ(entries[2].related.size(), 1U);
    EXPECT_EQ(entries[2].related[0].line, 8);
    EXPECT_NE(entries[3].message.find("argument types are: (int)"), std::string::npos);
    EXPECT_EQ(entries[3].column, 1);
    EXPECT_EQ(entries[4].file, "odd(1).cu");
    EXPECT_TRUE(entries[4].catastrophic);
    EXPECT_EQ(entries[5].ptx_line, 36);
    EXPECT_TRUE(entries[6].from_ptxas);
}

TEST(NvrtcLog, GivesPtxasFacts) {
    const auto facts = parse_ptxas_facts(
        "ptxas info    : 29 bytes gmem, 32 bytes cmem[4]\n"
        "ptxas info    : Compiling entry function 'k2' for 'sm_80'\n"
        "ptxas info    : Function properties for k2\n"
        "ptxas         .     1200 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
        "ptxas info    : Used 24 registers, used 2 barriers, 256 bytes smem, 364 bytes cmem[0], 8 bytes "
        "cmem[2]\n"
        "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
        "ptxas info    : Function properties for helper\n"
        "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
        "ptxas info    : Function properties for k\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 8 registers, 360 bytes cmem[0]\n");
    ASSERT_EQ(facts.size(), 2U);
    const KernelResources expected{24, 256, 12, 16, 1200, 372, 2, 0};
    EXPECT_EQ(facts.at("k2"), expected);
    EXPECT_EQ(facts.at("k").registers, 8);
    EXPECT_EQ(facts.at("k").spill_store_bytes, 0U);
}

TEST(NvrtcLog, BearsAnyBytes) {
    std::mt19937 random(7);
    const std::string base = sample_log;
    for (int round = 0; round < 3000; ++round) {
        std::string text = base;
        for (int change = 0; change < 8; ++change) {
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, random() % 40);
                    break;
                default:
                    text.insert(at, base.substr(random() % base.size(), random() % 60));
            }
            if (text.empty()) text = "x";
        }
        for (const LogEntry& entry : parse_nvrtc_log(text)) EXPECT_GE(entry.line, 0);
        parse_ptxas_facts(text);
    }
}

constexpr const char* sample_ptx =
    ".version 9.0\n.target sm_80\n"                                                              // 1, 2
    ".extern .func  (.param .b32 func_retval0) helper\n(\n\t.param .b32 helper_param_0\n)\n;\n"  // 3-7
    ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n"                                        // 8-11
    "\t.local .align 16 .b8 \t__local_depot0[16];\n"                                             // 12
    "\t.loc\t1 4 0\n\tmov.u32 %r1, 1;\n"                                                         // 13, 14
    "\t.loc\t2 9 3, function_name $L__info_string0, inlined_at 1 6 5\n\tadd.u32 %r1, %r1, 1;\n"  // 15, 16
    "\t{ // callseq 0, 0\n\tcall.uni (retval0), \n\thelper, \n\t(\n\tparam0\n\t);\n\t} // callseq 0\n"  // 17-23
    "\tret;\n}\n"                              // 24, 25
    ".visible .entry other()\n{\n\tret;\n}\n"  // 26-29
    "\t.file\t1 \"/a.cu\"\n\t.file\t2 \"/usr/include/h.hpp\"\n";

TEST(PtxLinesTest, LeadBackToTheSource) {
    const PtxLines lines(sample_ptx, "a.cu");
    EXPECT_EQ(lines.entries(), (std::vector<std::string>{"k", "other"}));
    EXPECT_EQ(lines.place_of(14).line, 4);
    EXPECT_EQ(lines.place_of(16).line, 6) << "the place in the candidate, not in the header that was inlined";
    EXPECT_EQ(lines.place_of(16).file, "/a.cu");
    EXPECT_EQ(lines.function_at(16), "k");
    EXPECT_EQ(lines.place_of_function("k").line, 4);
    EXPECT_EQ(lines.place_of_function("other").line, 0);
    EXPECT_EQ(lines.place_of(28).line, 0) << "the lines of another function are not its place";
    EXPECT_EQ(lines.first_call_of("helper"), 19);
    EXPECT_EQ(lines.first_call_of("help"), 0);
    EXPECT_EQ(PtxLines("", "a.cu").place_of(3).line, 0);
    const std::string stripped = strip_working_directory(sample_ptx, "a.cu");
    EXPECT_NE(stripped.find("\t.file\t1 \"a.cu\"\n"), std::string::npos);
    EXPECT_NE(stripped.find("\"/usr/include/h.hpp\""), std::string::npos);
}

TEST(Cubin, BearsAnyBytes) {
    std::mt19937 random(3);
    EXPECT_TRUE(code_sizes({}).empty());
    std::vector<std::byte> bytes(4096);
    for (int round = 0; round < 500; ++round) {
        for (std::byte& b : bytes) b = static_cast<std::byte>(random());
        const unsigned char start[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
        std::memcpy(bytes.data(), start, sizeof start);
        bytes[58] = std::byte{64};  // e_shentsize
        bytes[59] = std::byte{0};
        code_sizes(bytes);
    }
}

TEST(BuildCacheTest, KeepsWhatWasUsedLast) {
    const TempFolder folder;
    Build build;
    build.ptx = std::string(100'000, 'p');
    const BuildCache cache(folder.path(), 450'000);
    const auto key = [](int i) { return std::string(62, 'a') + std::to_string(10 + i); };
    for (int i = 0; i < 6; ++i) {
        cache.store(key(i), build);
        std::error_code ignored;
        fs::last_write_time(cache.path_of(key(i)),
                            fs::file_time_type::clock::now() - std::chrono::hours(10 - i), ignored);
    }
    ASSERT_TRUE(cache.find(key(0)));  // used now
    cache.evict();
    EXPECT_TRUE(cache.find(key(0)));
    EXPECT_TRUE(cache.find(key(5)));
    EXPECT_FALSE(cache.find(key(1)));
    EXPECT_FALSE(cache.find(key(2)));
}

TEST(BuildCacheTest, AnyChangedByteIsNoticed) {
    Build build;
    build.target = "sm_80";
    build.ptx = "ptx";
    build.cubin = {std::byte{1}, std::byte{0}, std::byte{255}};
    build.kernels["k"].registers = 7;
    build.lowered_names["f<int>"] = "_Z1fIiEvv";
    build.warnings.push_back(Diagnostic{
        "r", Stage::compile, Severity::warning, "k", "f.cu", 3, 4, {}, "m", "h", {}, "", {}, {}, {}});
    const std::string bytes = encode_build(build);
    const auto again = decode_build(bytes);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->ptx, build.ptx);
    EXPECT_EQ(again->cubin, build.cubin);
    EXPECT_EQ(again->kernels, build.kernels);
    EXPECT_EQ(again->lowered_names, build.lowered_names);
    EXPECT_EQ(again->warnings, build.warnings);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(decode_build(changed)) << i;
    }
}

TEST(Requests, NamesThatAreSafe) {
    EXPECT_EQ(program_name("a/b/softmax.cu"), "softmax.cu");
    EXPECT_EQ(program_name("softmax v2(1).cu"), "candidate.cu");
    EXPECT_EQ(program_name(""), "candidate.cu");
    EXPECT_EQ(program_name("-x.cu"), "candidate.cu");
    EXPECT_EQ(program_name("a\nb.cu"), "candidate.cu");
}

TEST(Requests, OnlyThreeOptionsAreAllowed) {
    CompileRequest request;
    request.options = {"--use_fast_math", "--fmad=false", "--maxrregcount=64"};
    EXPECT_TRUE(check_request(request).empty());
    for (const char* option :
         {"-I/etc", "--pre-include=/etc/passwd", "-DX=1", "--maxrregcount=1000",
          "--maxrregcount=", "--maxrregcount=64 -I/", "-G", "", "--device-debug", "--use_fast_math "}) {
        request.options = {option};
        const auto found = check_request(request);
        ASSERT_EQ(found.size(), 1U) << option;
        EXPECT_EQ(found[0].rule, "bad-option");
    }
}

// A machine that exists only in a temporary folder.
class Search : public testing::Test {
  protected:
    void file(const std::string& path) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << "";
    }
    void toolkit(const std::string& path, const std::string& version) const {
        file(path + "/lib64/libnvrtc.so." + version.substr(0, version.find('.')));
        file(path + "/lib64/libnvrtc-builtins.so." + version);
        file(path + "/lib64/libnvrtc.alt.so.99");
        file(path + "/include/cuda_fp16.h");
        file(path + "/include/cccl/cuda/std/cstdint");
    }
    Result<NvrtcLocation> find(const std::map<std::string, std::string>& variables) const {
        return find_nvrtc([variables](const std::string& name) -> std::optional<std::string> {
            const auto it = variables.find(name);
            return it == variables.end() ? std::nullopt : std::optional<std::string>(it->second);
        });
    }
    TempFolder temp_;
    const fs::path root_ = temp_.path();
};

TEST_F(Search, TakesTheNamedToolkit) {
    toolkit("cuda", "12.6");
    const auto found = find({{"CUDA_HOME", root_ / "cuda"}});
    ASSERT_TRUE(found) << found.error().str();
    EXPECT_EQ(found->library, root_ / "cuda/lib64/libnvrtc.so.12");
    EXPECT_EQ(found->version, (NvrtcVersion{12, 6}));
    EXPECT_EQ(found->found_by, "CUDA_HOME");
    EXPECT_TRUE(found->has_headers);
    EXPECT_EQ(found->builtins(), root_ / "cuda/lib64/libnvrtc-builtins.so.12.6");
    ASSERT_EQ(found->include_folders.size(), 2U);
    EXPECT_EQ(found->include_folders[1], fs::canonical(root_ / "cuda/include/cccl"));
}

TEST_F(Search, TakesFileOrFolderOfTheVariable) {
    toolkit("a", "13.1");
    for (const fs::path& path : {root_ / "a", root_ / "a/lib64", root_ / "a/lib64/libnvrtc.so.13"}) {
        const auto found = find({{"KERNELWRIGHT_NVRTC", path}});
        ASSERT_TRUE(found) << path << found.error().str();
        EXPECT_EQ(found->version, (NvrtcVersion{13, 1}));
        EXPECT_TRUE(found->has_headers);
    }
    // What the variable names is used or refused, never passed over in silence.
    toolkit("good", "13.0");
    const auto none = find({{"KERNELWRIGHT_NVRTC", root_ / "none"}, {"CUDA_HOME", root_ / "good"}});
    EXPECT_FALSE(none);
}

TEST_F(Search, RefusesWhatIsTooOld) {
    toolkit("old", "12.1");
    const auto found = find({{"KERNELWRIGHT_NVRTC", root_ / "old"}});
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("12.1, older than 12.4"), std::string::npos)
        << found.error().message;
}

TEST_F(Search, PassesOverAnOldOneForANewOne) {
    toolkit("old", "11.8");
    toolkit("new", "12.4");
    const auto found = find({{"CUDA_HOME", root_ / "old"}, {"CUDA_PATH", root_ / "new"}});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->found_by, "CUDA_PATH");
}

TEST_F(Search, LooksBesideNvccAndIntoPythonPackages) {
    toolkit("tk", "12.8");
    file("tk/bin/nvcc");
    fs::permissions(root_ / "tk/bin/nvcc", fs::perms::owner_all);
    const auto beside = find({{"PATH", (root_ / "tk/bin").string()}});
    ASSERT_TRUE(beside);
    EXPECT_EQ(beside->found_by, "nvcc on PATH");

    const std::string packages = "venv/lib/python3.11/site-packages/nvidia/";
    file(packages + "cuda_nvrtc/lib/libnvrtc.so.12");
    file(packages + "cuda_nvrtc/lib/libnvrtc-builtins.so.12.5");
    file(packages + "cuda_runtime/include/cuda_fp16.h");
    file(packages + "cuda_cccl/include/cuda/std/cstdint");
    bool listed = false;
    for (const NvrtcPlace& place : nvrtc_places([&](const std::string& name) -> std::optional<std::string> {
             if (name == "VIRTUAL_ENV") return (root_ / "venv").string();
             return std::nullopt;
         })) {
        if (place.path.string().find("venv") == std::string::npos) continue;
        listed = true;
        const auto location = nvrtc_at(place);
        ASSERT_TRUE(location);
        EXPECT_EQ(location->version, (NvrtcVersion{12, 5}));
        EXPECT_TRUE(location->has_headers);
        EXPECT_EQ(location->include_folders.size(), 2U);
    }
    EXPECT_TRUE(listed);
}

TEST(Stubs, EveryHeaderOfTheContractIsThere) {
    for (const char* name : {"stdint.h", "cstdint", "math.h", "cmath", "float.h", "limits.h", "assert.h",
                             "type_traits", "stdio.h", "cstdio", "stdlib.h", "cstring", "cuda.h", "cfloat",
                             "climits", "cassert", "cstdlib", "string.h"}) {
        bool found = false;
        for (const StubHeader& header : stub_headers()) found = found || std::strcmp(header.name, name) == 0;
        EXPECT_TRUE(found) << name;
    }
    EXPECT_EQ(stub_headers_hash().size(), 64U);
}

}  // namespace
}  // namespace kernelwright
