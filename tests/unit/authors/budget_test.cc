#include "harness/authors/budget.h"

#include <gtest/gtest.h>

#include "harness/authors/tokens.h"
#include "tests/unit/authors/author_fixture.h"

namespace kernelwright {
namespace {

Reply reply_of(std::int64_t input, std::int64_t output, std::int64_t cached = 0, std::int64_t written = 0) {
    Reply reply;
    reply.usage = {input, cached, written, output, 0, true};
    return reply;
}

BudgetMeter meter(const std::string& budgets, const Clock& clock, const std::string& price = "") {
    std::optional<Price> known;
    if (!price.empty()) known = parse_price(price).value();
    return BudgetMeter::make(parse_budgets(budgets).value(), known, clock).value();
}

TEST(Budgets, AreRead) {
    const Budgets all = parse_budgets("evals=40,tokens=200k,minutes=30,usd=2").value();
    EXPECT_EQ(all, (Budgets{40, 200000, 30.0, 2.0}));
    EXPECT_EQ(parse_budgets(" tokens = 1.5m , minutes=0.5 ").value(),
              (Budgets{std::nullopt, 1500000, 0.5, std::nullopt}));
    EXPECT_EQ(parse_budgets("evals=2K").value().evals, 2000);
    EXPECT_EQ(parse_budgets("tokens=0.1k").value().tokens, 100);
    EXPECT_EQ(to_string(all), "evals=40,tokens=200000,minutes=30,usd=2");
    EXPECT_EQ(parse_budgets(to_string(all)).value(), all);
}

TEST(Budgets, SayWhatIsWrong) {
    const auto error = [](const char* text) { return parse_budgets(text).error().message; };
    EXPECT_EQ(error("evls=4"), "unknown entry `evls` in the budget; did you mean `evals`?");
    EXPECT_EQ(error("evals"), "`evals` in the budget is not KEY=VALUE");
    EXPECT_EQ(error("evals=4,evals=5"), "`evals` is given twice in the budget");
    EXPECT_EQ(error("evals=4,"), "`` in the budget is not KEY=VALUE");
    EXPECT_EQ(error(""), "the budget is empty");
    EXPECT_EQ(error("tokens=many"), "`tokens=many` is not a count");
    for (const char* bad :
         {"evals=", "evals=0", "evals=-1", "evals=1.5", "evals=1e3", "tokens=k", "tokens=1g",
          "tokens=0.0001k", "tokens=99999999999999999999", "minutes=30m", "minutes=0", "minutes=-1",
          "minutes=nan", "minutes=inf", "usd=$2", "usd=", "evals=4 tokens=5", "=4"}) {
        EXPECT_FALSE(parse_budgets(bad).ok()) << bad;
    }
}

TEST(Price, IsRead) {
    EXPECT_EQ(parse_price("in=3,cached=0.3,out=15").value(), (Price{3, 0.3, 3, 15}));
    EXPECT_EQ(parse_price("in=3,write=3.75,out=15").value(), (Price{3, 3, 3.75, 15}));
    for (const char* bad : {"", "in=3", "out=3", "in=a,out=3", "in=3,out=3,foo=1", "in=-3,out=3"}) {
        EXPECT_FALSE(parse_price(bad).ok()) << bad;
    }
}

// 1000 prompt tokens of which 600 are read from a cache and 100 written, 50 out:
// (300 * 3 + 600 * 0.3 + 100 * 3.75 + 50 * 15) / 10^6
TEST(Price, CostsEachKindOfToken) {
    const Price price{3, 0.3, 3.75, 15};
    EXPECT_NEAR(cost_usd({1000, 600, 100, 50, 40, true}, price), 0.002205, 1e-12);
}

TEST(BudgetMeter, RefusesUsdWithoutAPrice) {
    const FakeClock clock;
    const auto made = BudgetMeter::make(parse_budgets("usd=2").value(), std::nullopt, clock);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().hint.find("KERNELWRIGHT_PRICE"), std::string::npos);
}

TEST(BudgetMeter, WithoutBudgetsAllowsAll) {
    const FakeClock clock;
    const auto free = BudgetMeter::make({}, std::nullopt, clock).value();
    const RequestPermit permit = free.check_before_request(1'000'000, 5000);
    EXPECT_TRUE(permit.allowed);
    EXPECT_EQ(permit.max_output_tokens, 5000);
    EXPECT_FALSE(permit.time.has_value());
}

TEST(BudgetMeter, CapsAndThenRefusesTokensBeforeTheRequest) {
    const FakeClock clock;
    auto tokens = meter("tokens=10k", clock);
    EXPECT_EQ(tokens.check_before_request(2000, 4000).max_output_tokens, 4000);
    tokens.charge_reply(reply_of(2000, 4000), 2000);
    EXPECT_EQ(tokens.check_before_request(2000, 4000).max_output_tokens, 2000);  // 10000 - 6000 - 2000
    EXPECT_EQ(tokens.check_before_request(3744, 4000).max_output_tokens, 256);
    const RequestPermit refused = tokens.check_before_request(3745, 4000);
    EXPECT_FALSE(refused.allowed);
    EXPECT_EQ(refused.exhausted, "tokens");
    EXPECT_EQ(refused.max_output_tokens, 0);
    EXPECT_NE(refused.message.find("6000 of 10000"), std::string::npos) << refused.message;
    // Cached tokens count as well
    tokens.charge_reply(reply_of(3000, 900, 2900), 3000);
    EXPECT_EQ(tokens.check_before_request(0, 256).exhausted, "tokens");
}

TEST(BudgetMeter, LearnsThatItsEstimatesAreLow) {
    const FakeClock clock;
    auto tokens = meter("tokens=100k", clock);
    tokens.charge_reply(reply_of(3000, 100), 2000);
    EXPECT_EQ(tokens.check_before_request(66000, 4000).exhausted, "tokens");  // 99000 by what was seen
    EXPECT_TRUE(tokens.check_before_request(60000, 4000).allowed);
    tokens.charge_reply(reply_of(1000, 100), 2000);  // one high estimate does not undo it
    EXPECT_EQ(tokens.check_before_request(66000, 4000).exhausted, "tokens");
}

TEST(BudgetMeter, ChargesAnEstimateWhereNothingIsReported) {
    const FakeClock clock;
    auto tokens = meter("tokens=10k", clock);
    Reply reply;
    reply.outcome = Outcome::broken_stream;
    reply.text = std::string(3500, 'x');
    tokens.charge_reply(reply, 1500);
    EXPECT_EQ(tokens.spent().usage.input_tokens, 1500);
    EXPECT_EQ(tokens.spent().usage.output_tokens, 1000);
    EXPECT_FALSE(tokens.spent().usage.reported);
    Reply unreachable;
    unreachable.outcome = Outcome::unreachable;
    tokens.charge_reply(unreachable, 1500);
    EXPECT_EQ(tokens.spent().tokens(), 2500);  // nothing was sent
}

TEST(BudgetMeter, CountsEvalsAndMinutes) {
    FakeClock clock;
    auto both = meter("evals=2,minutes=1", clock);
    EXPECT_EQ(both.check_before_request(10, 1000).time, std::chrono::milliseconds(60000));
    both.charge_eval();
    EXPECT_EQ(both.exhausted_before_eval(), "");
    clock.sleep_for(std::chrono::milliseconds(59500));
    EXPECT_EQ(both.check_before_request(10, 1000).time, std::chrono::milliseconds(500));
    clock.sleep_for(std::chrono::milliseconds(500));
    EXPECT_EQ(both.exhausted_before_eval(), "minutes");
    EXPECT_EQ(both.check_before_request(10, 1000).exhausted, "minutes");
    both.charge_eval();
    EXPECT_EQ(both.exhausted_before_eval(), "evals");
    EXPECT_EQ(both.check_before_request(10, 1000).exhausted, "evals");
}

TEST(BudgetMeter, BoundsTheRequestsOfEvals) {
    const FakeClock clock;
    auto evals = meter("evals=2", clock);
    for (int i = 0; i < 8; ++i) {  // 3 for each eval and 2
        EXPECT_TRUE(evals.check_before_request(10, 1000).allowed) << i;
        evals.charge_reply(reply_of(10, 10), 10);
    }
    const RequestPermit refused = evals.check_before_request(10, 1000);
    EXPECT_EQ(refused.exhausted, "requests");
    EXPECT_NE(refused.message.find("8 requests brought 0 of 2 evals"), std::string::npos) << refused.message;
}

TEST(Budgets, WhatIsNotGivenStaysAsItWas) {
    const Budgets given = merged(parse_budgets("evals=40,tokens=500k,minutes=60").value(),
                                 parse_budgets("evals=2,usd=1").value());
    EXPECT_EQ(to_string(given), "evals=2,tokens=500000,minutes=60,usd=1");
}

TEST(BudgetMeter, CapsByMoney) {
    const FakeClock clock;
    auto money = meter("usd=0.1", clock, "in=10,cached=1,out=50");
    // A prompt of 2000 tokens costs 0.02; 0.08 buys 1600 tokens of answer.
    EXPECT_EQ(money.check_before_request(2000, 4000).max_output_tokens, 1600);
    money.charge_reply(reply_of(2000, 1000), 2000);  // 0.02 + 0.05
    EXPECT_NEAR(money.spent().usd, 0.07, 1e-12);
    const RequestPermit refused = money.check_before_request(2000, 4000);  // 0.01 left: 200 tokens
    EXPECT_EQ(refused.exhausted, "usd");
    EXPECT_FALSE(refused.allowed);
}

TEST(BudgetMeter, IsKeptOverAResume) {
    FakeClock clock;
    auto first = meter("evals=5,tokens=10k,minutes=2", clock, "in=10,out=50");
    first.charge_reply(reply_of(2000, 300, 500, 100), 1000);
    first.charge_eval();
    clock.sleep_for(std::chrono::milliseconds(30000));
    const Json record = Json::parse(first.to_json().dump());
    clock.sleep_for(std::chrono::milliseconds(3600000));  // nobody at home
    auto second = meter("evals=5,tokens=10k,minutes=2", clock, "in=10,out=50");
    ASSERT_TRUE(second.restore(record).ok());
    EXPECT_EQ(second.spent().evals, 1);
    EXPECT_EQ(second.spent().usage, first.spent().usage);
    EXPECT_NEAR(second.spent().usd, first.spent().usd, 1e-12);
    EXPECT_NEAR(second.spent().seconds, 30, 1e-9);
    EXPECT_EQ(second.check_before_request(1000, 100).time, std::chrono::milliseconds(90000));
    EXPECT_EQ(second.to_json(), record);
    for (const char* bad : {"[]", "{}", "null", R"({"usage":{},"evals":-1,"requests":0,"seconds":0,"usd":0})",
                            R"({"usage":{"input_tokens":"x"},"evals":0,"requests":0,"seconds":0,"usd":0})"}) {
        EXPECT_FALSE(second.restore(Json::parse(bad)).ok()) << bad;
    }
}

TEST(Tokens, AreEstimatedFromBytes) {
    EXPECT_EQ(estimate_tokens(""), 0);
    EXPECT_EQ(estimate_tokens("x"), 1);
    EXPECT_EQ(estimate_tokens(std::string(7, 'x')), 2);
    EXPECT_EQ(estimate_tokens(std::string(8, 'x')), 3);
    EXPECT_EQ(estimate_tokens(Prompt{std::string(7, 'x'), {{Role::user, std::string(7, 'x')}}}), 12);
}

TEST(Tokens, WarnOfALostPrompt) {
    EXPECT_TRUE(lost_prompt_warning({4096, 0, 0, 10, 0, true}, 12000).has_value());
    EXPECT_FALSE(lost_prompt_warning({9000, 0, 0, 10, 0, true}, 12000).has_value());
    EXPECT_FALSE(lost_prompt_warning({4096, 0, 0, 10, 0, false}, 12000).has_value());  // not reported
    EXPECT_FALSE(lost_prompt_warning({0, 0, 0, 10, 0, true}, 12000).has_value());      // reported as nothing
    EXPECT_FALSE(lost_prompt_warning({100, 0, 0, 10, 0, true}, 500).has_value());      // too short to tell
}

}  // namespace
}  // namespace kernelwright
