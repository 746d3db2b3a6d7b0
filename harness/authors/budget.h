// What a run may spend, checked before it is spent: a request that would overdraw the tokens or the money is
// not sent, and one that nearly would is sent with a smaller cap on its answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/authors/author.h"
#include "harness/core/clock.h"
#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

struct Budgets {
    std::optional<std::int64_t> evals;   // candidates evaluated
    std::optional<std::int64_t> tokens;  // prompt (cached parts too) and answer (reasoning too)
    std::optional<double> minutes;       // wall clock
    std::optional<double> usd;
    bool operator==(const Budgets&) const = default;
};

// A model that repeats itself, or answers without a candidate, uses up no eval. A budget of N evals allows
// requests_per_eval * N + spare_requests requests, retries inside a request not counted.
inline constexpr std::int64_t requests_per_eval = 3, spare_requests = 2;

// The limits of `given`, and those of `otherwise` where it sets none.
Budgets merged(const Budgets& otherwise, const Budgets& given);

// "evals=40,tokens=200k,minutes=30,usd=2"; k and m stand for thousand and million in evals and tokens.
Result<Budgets> parse_budgets(const std::string& text);
std::string to_string(const Budgets& budgets);

// US dollars per million tokens.
struct Price {
    double input = 0;
    double cached = 0;       // input read from a cache
    double cache_write = 0;  // input written to a cache
    double output = 0;
    bool operator==(const Price&) const = default;
};
// "in=3,cached=0.3,out=15" and optionally "write=3.75"; `cached` and `write` default to `in`.
Result<Price> parse_price(const std::string& text);
double cost_usd(const Usage& usage, const Price& price);

struct Spent {
    std::int64_t evals = 0;
    std::int64_t requests = 0;  // asks; retries are inside
    Usage usage;                // sums; `reported` is true when every part was
    double seconds = 0;
    double usd = 0;  // 0 without a price
    std::int64_t tokens() const { return usage.input_tokens + usage.output_tokens; }
    bool operator==(const Spent&) const = default;
};

struct RequestPermit {
    bool allowed = false;
    std::int64_t max_output_tokens = 0;             // the wanted cap, or what the budgets leave
    std::optional<std::chrono::milliseconds> time;  // what is left of `minutes`
    std::string exhausted;                          // "evals", "requests", "tokens", "minutes" or "usd"
    std::string message;                            // one line; why not
};

class BudgetMeter {
  public:
    // A `usd` budget without a price is an error. `clock` outlives the meter.
    static Result<BudgetMeter> make(const Budgets& budgets, std::optional<Price> price, const Clock& clock);

    // Asked before every request. `prompt_tokens` is an estimate; it is scaled by how far earlier estimates
    // were below what the endpoint counted, so that a budget is not overdrawn by a bad guess twice.
    RequestPermit check_before_request(std::int64_t prompt_tokens, std::int64_t wanted_output_tokens) const;
    // Asked before every evaluation: what is used up, or "".
    std::string exhausted_before_eval() const;

    void charge_eval() { ++spent_.evals; }
    void charge_reply(const Reply& reply, std::int64_t prompt_estimate);

    const Budgets& budgets() const { return budgets_; }
    const std::optional<Price>& price() const { return price_; }
    Spent spent() const;  // `seconds` up to now

    // What is spent, for the run record; a resumed run goes on from there (time between the two is not
    // counted).
    Json to_json() const;
    Status restore(const Json& json);

  private:
    BudgetMeter(const Budgets& budgets, std::optional<Price> price, const Clock& clock)
        : budgets_(budgets), price_(price), clock_(&clock), start_(clock.now()) {}

    Budgets budgets_;
    std::optional<Price> price_;
    const Clock* clock_;
    std::chrono::steady_clock::time_point start_;
    Spent spent_;                  // `seconds`: of earlier parts of the run
    double estimate_scale_ = 1.0;  // largest ratio of counted to estimated prompt tokens
};

}  // namespace kernelwright
