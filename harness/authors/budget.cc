#include "harness/authors/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "harness/authors/tokens.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

// An answer shorter than this cannot hold a kernel: the request would be wasted.
constexpr std::int64_t least_output_tokens = 256;
constexpr double most_scale = 4.0;

struct Pair {
    std::string key, value;
};

Result<std::vector<Pair>> parse_pairs(const std::string& text, const char* what, const std::string& example,
                                      const std::vector<std::string>& known) {
    std::vector<Pair> pairs;
    std::set<std::string> seen;
    if (trim(text).empty()) return Error{fmt::format("the {} is empty", what), "", 0, 0, example};
    for (const auto& part : split(text, ',')) {
        const std::string_view entry = trim(part);
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) {
            return Error{fmt::format("`{}` in the {} is not KEY=VALUE", entry, what), "", 0, 0, example};
        }
        Pair pair{std::string(trim(entry.substr(0, equals))), std::string(trim(entry.substr(equals + 1)))};
        if (std::find(known.begin(), known.end(), pair.key) == known.end()) {
            return Error{
                fmt::format("unknown entry `{}` in the {}{}", pair.key, what, did_you_mean(pair.key, known)),
                "", 0, 0, example};
        }
        if (!seen.insert(pair.key).second) {
            return Error{fmt::format("`{}` is given twice in the {}", pair.key, what)};
        }
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

std::optional<double> plain_number(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || at != end || !std::isfinite(value) || value < 0) return std::nullopt;
    return value;
}

Result<std::int64_t> count_value(const Pair& pair) {
    std::string_view digits = pair.value;
    double scale = 1;
    if (!digits.empty()) {
        const char suffix = digits.back();
        if (suffix == 'k' || suffix == 'K') scale = 1e3;
        if (suffix == 'm' || suffix == 'M') scale = 1e6;
        if (scale != 1) digits.remove_suffix(1);
    }
    const auto value = plain_number(digits);
    if (!value) {
        return Error{fmt::format("`{}={}` is not a count", pair.key, pair.value), "", 0, 0,
                     "a number, also as 200k or 1.5m"};
    }
    const double count = std::round(*value * scale);
    if (count < 1 || count > 1e15 || std::abs(count - *value * scale) > 1e-6 * count) {
        return Error{fmt::format("`{}={}` is not a whole number from 1 to 10^15", pair.key, pair.value)};
    }
    return static_cast<std::int64_t>(count);
}

Result<double> amount_value(const Pair& pair) {
    const auto value = plain_number(pair.value);
    if (!value || *value == 0 || *value > 1e9) {
        return Error{fmt::format("`{}={}` is not a number above 0", pair.key, pair.value), "", 0, 0,
                     pair.key == "minutes" ? "minutes without a unit, such as 30 or 0.5" : ""};
    }
    return *value;
}

std::string plain(double value) { return fmt::format("{}", value); }

}  // namespace

Result<Budgets> parse_budgets(const std::string& text) {
    static const std::vector<std::string> known{"evals", "tokens", "minutes", "usd"};
    auto pairs = parse_pairs(text, "budget", "such as evals=40,tokens=200k,minutes=30,usd=2", known);
    if (!pairs) return pairs.error();
    Budgets budgets;
    for (const Pair& pair : *pairs) {
        if (pair.key == "evals" || pair.key == "tokens") {
            auto count = count_value(pair);
            if (!count) return count.error();
            (pair.key == "evals" ? budgets.evals : budgets.tokens) = *count;
        } else {
            auto amount = amount_value(pair);
            if (!amount) return amount.error();
            (pair.key == "minutes" ? budgets.minutes : budgets.usd) = *amount;
        }
    }
    return budgets;
}

Budgets merged(const Budgets& otherwise, const Budgets& given) {
    Budgets out = otherwise;
    if (given.evals) out.evals = given.evals;
    if (given.tokens) out.tokens = given.tokens;
    if (given.minutes) out.minutes = given.minutes;
    if (given.usd) out.usd = given.usd;
    return out;
}

std::string to_string(const Budgets& budgets) {
    std::vector<std::string> parts;
    if (budgets.evals) parts.push_back(fmt::format("evals={}", *budgets.evals));
    if (budgets.tokens) parts.push_back(fmt::format("tokens={}", *budgets.tokens));
    if (budgets.minutes) parts.push_back("minutes=" + plain(*budgets.minutes));
    if (budgets.usd) parts.push_back("usd=" + plain(*budgets.usd));
    return fmt::format("{}", fmt::join(parts, ","));
}

Result<Price> parse_price(const std::string& text) {
    static const std::vector<std::string> known{"in", "cached", "write", "out"};
    auto pairs = parse_pairs(text, "price", "US dollars per million tokens: in=3,cached=0.3,out=15", known);
    if (!pairs) return pairs.error();
    std::optional<double> in, cached, write, out;
    for (const Pair& pair : *pairs) {
        const auto value = plain_number(pair.value);
        if (!value || *value > 1e6) {
            return Error{fmt::format("`{}={}` is not a price", pair.key, pair.value), "", 0, 0,
                         "US dollars per million tokens, without a sign"};
        }
        (pair.key == "in" ? in : pair.key == "cached" ? cached : pair.key == "write" ? write : out) = *value;
    }
    if (!in || !out) {
        return Error{fmt::format("the price names no `{}`", in ? "out" : "in"), "", 0, 0,
                     "US dollars per million tokens: in=3,cached=0.3,out=15"};
    }
    return Price{*in, cached.value_or(*in), write.value_or(*in), *out};
}

double cost_usd(const Usage& usage, const Price& price) {
    const std::int64_t plain_input =
        std::max<std::int64_t>(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens);
    return (static_cast<double>(plain_input) * price.input +
            static_cast<double>(usage.cached_input_tokens) * price.cached +
            static_cast<double>(usage.cache_write_tokens) * price.cache_write +
            static_cast<double>(usage.output_tokens) * price.output) /
           1e6;
}

Result<BudgetMeter> BudgetMeter::make(const Budgets& budgets, std::optional<Price> price,
                                      const Clock& clock) {
    if (budgets.usd && !price) {
        return Error{
            "a budget in usd needs a price", "", 0, 0,
            "set KERNELWRIGHT_PRICE to US dollars per million tokens, such as in=3,cached=0.3,out=15"};
    }
    return BudgetMeter(budgets, price, clock);
}

Spent BudgetMeter::spent() const {
    Spent spent = spent_;
    spent.seconds += std::chrono::duration<double>(clock_->now() - start_).count();
    return spent;
}

std::string BudgetMeter::exhausted_before_eval() const {
    const Spent now = spent();
    if (budgets_.evals && now.evals >= *budgets_.evals) return "evals";
    if (budgets_.minutes && now.seconds >= *budgets_.minutes * 60) return "minutes";
    return "";
}

RequestPermit BudgetMeter::check_before_request(std::int64_t prompt_tokens,
                                                std::int64_t wanted_output_tokens) const {
    RequestPermit permit;
    permit.max_output_tokens = wanted_output_tokens;
    const Spent now = spent();
    const auto refuse = [&permit](const char* budget, std::string message) {
        permit.allowed = false;
        permit.max_output_tokens = 0;
        permit.exhausted = budget;
        permit.message = std::move(message);
        return permit;
    };
    // An answer that can no longer be evaluated is not worth a request.
    if (budgets_.evals && now.evals >= *budgets_.evals) {
        return refuse("evals", fmt::format("{} of {} evals are used", now.evals, *budgets_.evals));
    }
    if (budgets_.evals) {
        const std::int64_t most = requests_per_eval * *budgets_.evals + spare_requests;
        if (now.requests >= most) {
            return refuse(
                "requests",
                fmt::format("{} requests brought {} of {} evals; no more than {} for each eval "
                            "and {} are sent",
                            now.requests, now.evals, *budgets_.evals, requests_per_eval, spare_requests));
        }
    }
    if (budgets_.minutes) {
        const double left = *budgets_.minutes * 60 - now.seconds;
        if (left <= 0) return refuse("minutes", fmt::format("{} minutes have passed", *budgets_.minutes));
        permit.time = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(left * 1000)));
    }
    const auto prompt = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(std::max<std::int64_t>(0, prompt_tokens)) * estimate_scale_));
    const std::int64_t least = std::min(least_output_tokens, wanted_output_tokens);
    if (budgets_.tokens) {
        const std::int64_t left = *budgets_.tokens - now.tokens() - prompt;
        if (left < least) {
            return refuse("tokens",
                          fmt::format("{} of {} tokens are used; a request of about {} and an answer of "
                                      "{} do not fit",
                                      now.tokens(), *budgets_.tokens, prompt, least));
        }
        permit.max_output_tokens = std::min(permit.max_output_tokens, left);
    }
    if (budgets_.usd) {
        // Nothing is assumed to be cached, and what may be written to a cache costs what that costs.
        const double input_price = std::max(price_->input, price_->cache_write);
        const double left = *budgets_.usd - now.usd - static_cast<double>(prompt) * input_price / 1e6;
        const double affordable = price_->output > 0 ? std::floor(left * 1e6 / price_->output + 1e-9) : 1e15;
        if (left < 0 || affordable < static_cast<double>(least)) {
            return refuse("usd", fmt::format("{:.4f} of {} usd are used; a request of about {} tokens and an "
                                             "answer of {} do not fit",
                                             now.usd, *budgets_.usd, prompt, least));
        }
        permit.max_output_tokens =
            std::min(permit.max_output_tokens, static_cast<std::int64_t>(std::min(affordable, 1e15)));
    }
    permit.allowed = true;
    return permit;
}

void BudgetMeter::charge_reply(const Reply& reply, std::int64_t prompt_estimate) {
    const Usage usage = charged_usage(reply, prompt_estimate);
    if (usage.reported && prompt_estimate > 0) {
        const double ratio = static_cast<double>(usage.input_tokens) / static_cast<double>(prompt_estimate);
        estimate_scale_ = std::clamp(ratio, estimate_scale_, std::max(estimate_scale_, most_scale));
    }
    Usage& sum = spent_.usage;
    sum.reported = (spent_.requests == 0 || sum.reported) && usage.reported;
    sum.input_tokens += usage.input_tokens;
    sum.cached_input_tokens += usage.cached_input_tokens;
    sum.cache_write_tokens += usage.cache_write_tokens;
    sum.output_tokens += usage.output_tokens;
    sum.reasoning_tokens += usage.reasoning_tokens;
    if (price_) spent_.usd += cost_usd(usage, *price_);
    ++spent_.requests;
}

Json BudgetMeter::to_json() const {
    const Spent now = spent();
    return Json{
        {"evals", now.evals},     {"requests", now.requests}, {"usage", kernelwright::to_json(now.usage)},
        {"seconds", now.seconds}, {"usd", now.usd},           {"estimate_scale", estimate_scale_}};
}

Status BudgetMeter::restore(const Json& json) {
    const auto count = [&json](const char* key) -> std::int64_t {
        const auto it = json.find(key);
        return it != json.end() && it->is_number_integer() ? it->get<std::int64_t>() : -1;
    };
    const auto amount = [&json](const char* key) {
        const auto it = json.find(key);
        return it != json.end() && it->is_number() ? it->get<double>() : -1.0;
    };
    if (!json.is_object() || !json.contains("usage"))
        return Error{"the record of what is spent is not readable"};
    const auto usage = usage_from_json(json["usage"]);
    if (!usage) return usage.error();
    Spent spent;
    spent.evals = count("evals");
    spent.requests = count("requests");
    spent.seconds = amount("seconds");
    spent.usd = amount("usd");
    spent.usage = *usage;
    const double scale = amount("estimate_scale");
    if (spent.evals < 0 || spent.requests < 0 || !(spent.seconds >= 0) || !(spent.usd >= 0)) {
        return Error{"the record of what is spent holds an impossible number"};
    }
    spent_ = spent;
    estimate_scale_ = scale >= 1 && scale <= most_scale ? scale : 1.0;
    start_ = clock_->now();
    return Done{};
}

}  // namespace kernelwright
