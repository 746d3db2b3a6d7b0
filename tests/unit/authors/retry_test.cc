#include "harness/authors/retry.h"

#include <gtest/gtest.h>

#include "harness/authors/redact.h"

namespace kernelwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const auto now = std::chrono::system_clock::from_time_t(1'800'000'000);  // Fri, 15 Jan 2027 08:00:00 GMT

RetryDecision decide(int status, HeaderMap headers = {}, int done = 0, double random = 0) {
    return decide_retry(RetryPolicy{}, {status, std::move(headers), false, false}, done, now,
                        [random] { return random; });
}

TEST(Retry, IsForWhatMayPass) {
    for (const int status : {0, 408, 409, 429, 500, 502, 503, 504, 529, 599})
        EXPECT_TRUE(decide(status).again) << status;
    for (const int status : {300, 400, 401, 402, 403, 404, 405, 413, 422, 499})
        EXPECT_FALSE(decide(status).again) << status;
}

TEST(Retry, EndsAfterTwo) {
    EXPECT_TRUE(decide(500, {}, 1).again);
    EXPECT_FALSE(decide(500, {}, 2).again);
    EXPECT_FALSE(decide(500, {{"x-should-retry", "true"}}, 2).again);
}

TEST(Retry, ServerDecides) {
    EXPECT_FALSE(decide(500, {{"x-should-retry", "false"}}).again);
    EXPECT_TRUE(decide(400, {{"x-should-retry", "true"}}).again);
    EXPECT_TRUE(decide(500, {{"x-should-retry", "maybe"}}).again);
}

TEST(Retry, NeverWaitsForAnEmptyAccount) {
    const FailedAttempt failed{429, {{"x-should-retry", "true"}, {"retry-after", "1"}}, true, false};
    EXPECT_FALSE(decide_retry(RetryPolicy{}, failed, 0, now, [] { return 0.0; }).again);
}

TEST(Retry, BacksOffWithJitter) {
    RetryPolicy many;
    many.max_retries = 10;
    const auto wait = [&](int done, double random) {
        return decide_retry(many, {500, {}, false, false}, done, now, [random] { return random; })
            .wait.count();
    };
    EXPECT_EQ(wait(0, 0), 500);
    EXPECT_EQ(wait(1, 0), 1000);
    EXPECT_EQ(wait(3, 0), 4000);
    EXPECT_EQ(wait(4, 0), 8000);
    EXPECT_EQ(wait(9, 0), 8000);
    EXPECT_EQ(wait(0, 1.0), 375);
    EXPECT_EQ(wait(4, 0.5), 7000);
}

TEST(Retry, HonoursWhatIsAskedFor) {
    EXPECT_EQ(decide(429, {{"retry-after", "7"}}).wait, seconds(7));
    EXPECT_EQ(decide(429, {{"retry-after", "0"}}).wait, seconds(0));
    EXPECT_EQ(decide(429, {{"retry-after", "1.5"}}).wait, milliseconds(1500));
    EXPECT_EQ(decide(429, {{"retry-after-ms", "250"}, {"retry-after", "7"}}).wait, milliseconds(250));
    EXPECT_EQ(decide(429, {{"retry-after", "Fri, 15 Jan 2027 08:00:20 GMT"}}).wait, seconds(20));
    EXPECT_EQ(decide(429, {{"retry-after", "Friday, 15-Jan-27 08:00:20 GMT"}}).wait, seconds(20));
    EXPECT_EQ(decide(429, {{"retry-after", "Fri Jan 15 08:00:20 2027"}}).wait, seconds(20));
    EXPECT_EQ(decide(429, {{"retry-after", "Fri, 15 Jan 2027 07:00:00 GMT"}}).wait, seconds(0));  // past
}

TEST(Retry, IgnoresWhatMakesNoSense) {
    for (const char* bad :
         {"", "soon", "-5", "nan", "inf", "5 apples", "99999999999999999999999x", "20270115"}) {
        const RetryDecision decision = decide(429, {{"retry-after", bad}});
        if (std::string(bad) == "20270115") {
            EXPECT_FALSE(decision.again);  // a number of seconds: far too long
        } else {
            EXPECT_EQ(decision.wait, milliseconds(500)) << bad;
        }
    }
    EXPECT_EQ(decide(429, {{"retry-after-ms", "x"}, {"retry-after", "3"}}).wait, seconds(3));
}

TEST(Retry, DoesNotWaitForHours) {
    const RetryDecision decision = decide(429, {{"retry-after", "7200"}});
    EXPECT_FALSE(decision.again);
    EXPECT_NE(decision.why_not.find("7200 s"), std::string::npos);
    EXPECT_FALSE(decide(429, {{"retry-after", "1e300"}}).again);
}

TEST(Secrets, AreReplacedEverywhere) {
    Secrets secrets;
    secrets.add("sk-abcdefghijklmnopqrstuvwxyz");
    secrets.add("sk-abcdefghijklmnop");  // a part of the other
    secrets.add("ollama");
    secrets.add("x");
    secrets.add("");
    EXPECT_EQ(secrets.redact("a sk-abcdefghijklmnopqrstuvwxyz b sk-abcdefghijklmnop c ollama x"),
              "a [redacted] b [redacted] c [redacted] x");
    EXPECT_EQ(secrets.redact_prose("ollama sk-abcdefghijklmnop"), "ollama [redacted]");
}

TEST(OneLine, IsPrintable) {
    EXPECT_EQ(one_line(" a\n\tb\x1b[31m c\r\n"), "a b [31m c");
    EXPECT_EQ(one_line("abcdef", 3), "abc...");
    EXPECT_EQ(one_line("ab\xE2\x82\xAC", 4), "ab...");
}

TEST(Url, ShowsNoCredentials) {
    EXPECT_EQ(url_without_credentials("https://me:pass@host:1/v1"), "https://host:1/v1");
    EXPECT_EQ(url_without_credentials("https://host/v1?a=@b"), "https://host/v1?a=@b");
    EXPECT_EQ(url_without_credentials("no url"), "no url");
}

TEST(Url, KnowsLoopback) {
    for (const char* url : {"http://localhost:1/v1", "http://127.0.0.1/", "http://127.9.8.7",
                            "http://[::1]:80/v1", "http://LOCALHOST", "http://me:pw@localhost/"}) {
        EXPECT_TRUE(is_loopback(url)) << url;
    }
    for (const char* url :
         {"http://localhost.example.com/", "http://127.0.0.1.example.com/", "https://api.openai.com/v1",
          "http://10.0.0.1", "http://127.0.0.1@evil.example/", "", "localhost"}) {
        EXPECT_FALSE(is_loopback(url)) << url;
    }
}

}  // namespace
}  // namespace kernelwright
