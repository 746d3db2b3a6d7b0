// Frames, whole, in pieces and broken.
#include "harness/sandbox/message.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/core/process.h"
#include "harness/sandbox/policy.h"

namespace kernelwright {
namespace {

TEST(Messages, SurviveTheWay) {
    const Message sent{Json{{"a", 1}, {"b", {1, 2}}}, {"", std::string("\0x", 2), std::string(10'000, 'z')}};
    const std::string frame = encode(sent);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, frame.size()}) {
        MessageDecoder decoder;
        std::optional<Message> got;
        for (std::size_t at = 0; at < frame.size(); at += piece) {
            ASSERT_FALSE(got);
            decoder.feed(frame.data() + at, std::min(piece, frame.size() - at));
            auto next = decoder.next();
            ASSERT_TRUE(next) << next.error().message;
            got = std::move(*next);
        }
        ASSERT_TRUE(got);
        EXPECT_EQ(*got, sent);
        EXPECT_TRUE(decoder.empty());
    }
}

TEST(Messages, BrokenTextIsReplacedNotThrown) {
    MessageDecoder decoder;
    const std::string frame = encode({Json{{"log", "a\xff\xfe"}}, {}});
    decoder.feed(frame.data(), frame.size());
    const auto got = decoder.next();
    ASSERT_TRUE(got);
    ASSERT_TRUE(*got);
}

TEST(Messages, BearAnyBytes) {
    std::mt19937 random(11);
    const std::string whole = encode({Json{{"a", "text"}}, {"one", "two"}});
    int refused = 0;
    for (int round = 0; round < 5000; ++round) {
        std::string frame = whole;
        for (int change = 0; change < 3; ++change)
            frame[random() % frame.size()] = static_cast<char>(random());
        MessageDecoder decoder(MessageLimits{1000, 1000, 10});
        decoder.feed(frame.data(), frame.size());
        refused += decoder.next() ? 0 : 1;
    }
    EXPECT_GT(refused, 100);
}

TEST(Messages, AreReadFromAPipe) {
    auto pipe = make_pipe();
    ASSERT_TRUE(pipe);
    const Message sent{Json{{"a", 1}}, {"blob"}};
    ASSERT_TRUE(write_message(pipe->write.get(), sent));
    const std::string part = encode(sent).substr(0, 20);
    ASSERT_EQ(::write(pipe->write.get(), part.data(), part.size()), static_cast<ssize_t>(part.size()));
    pipe->write.reset();
    const auto first = read_message(pipe->read.get());
    ASSERT_TRUE(first && *first);
    EXPECT_EQ(**first, sent);
    EXPECT_FALSE(read_message(pipe->read.get())) << "it broke off";
    const auto end = read_message(pipe->read.get());
    ASSERT_TRUE(end);
    EXPECT_FALSE(*end);
}

TEST(Policies, SurviveTheWay) {
    SandboxPolicy policy;
    policy.mode = SandboxMode::require;
    policy.read_only = {"/usr", "/a b"};
    policy.read_write = {"/tmp/x"};
    policy.allow_exec = true;
    policy.address_space = 1;
    policy.memory = 2;
    policy.cpu = std::chrono::seconds(3);
    policy.file_size = 4;
    policy.open_files = 5;
    policy.processes = 6;
    const auto again = sandbox_policy_from_json(to_json(policy));
    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(policy));
    EXPECT_FALSE(sandbox_policy_from_json(Json{{"mode", "open"}}));
    EXPECT_FALSE(sandbox_policy_from_json(Json::array()));
    EXPECT_EQ(parse_sandbox_mode("best-effort"), SandboxMode::best_effort);
    EXPECT_FALSE(parse_sandbox_mode("strict"));
}

}  // namespace
}  // namespace kernelwright
