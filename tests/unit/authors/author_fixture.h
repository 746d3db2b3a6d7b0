// A clock that stands still except when someone sleeps, and authors that talk to a ScriptedServer.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "harness/authors/factory.h"
#include "tests/unit/authors/scripted_server.h"

namespace kernelwright {

class FakeClock final : public Clock {
  public:
    std::chrono::steady_clock::time_point now() const override {
        return std::chrono::steady_clock::time_point{} + slept;
    }
    std::chrono::system_clock::time_point wall() const override {
        return std::chrono::system_clock::from_time_t(1'800'000'000) + slept;  // 15 Jan 2027 08:00:00 GMT
    }
    void sleep_for(std::chrono::milliseconds duration) override { slept += duration; }
    std::chrono::milliseconds slept{0};
};

inline const std::string secret_key = "sk-test-0123456789abcdef-SECRET";

// An environment of the test's own.
inline EnvironmentReader environment(std::map<std::string, std::string> values) {
    return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
        const auto it = values.find(name);
        if (it == values.end()) return std::nullopt;
        return it->second;
    };
}

inline AuthorConfig test_config(const std::string& url) {
    AuthorConfig config;
    config.environment = environment({{"OPENAI_BASE_URL", url + "/v1"},
                                      {"OPENAI_API_KEY", secret_key},
                                      {"ANTHROPIC_BASE_URL", url},
                                      {"ANTHROPIC_API_KEY", secret_key},
                                      {"KERNELWRIGHT_MODEL", "test-model"}});
    config.limits.connect = std::chrono::seconds(5);
    config.limits.stall = std::chrono::seconds(5);
    config.limits.total = std::chrono::seconds(20);
    config.jitter_seed = 1;
    return config;
}

inline std::unique_ptr<Author> author(const std::string& spec, const AuthorConfig& config, Clock& clock) {
    auto made = make_author(spec, config, clock);
    if (!made) {
        ADD_FAILURE() << made.error().error.str();
        return nullptr;
    }
    return std::move(made).value();
}

inline Prompt hello() { return {"You write CUDA.", {{Role::user, "Write softmax."}}}; }

// Everything that a reply shows to the world.
inline std::string shown(const Reply& reply) { return to_json(reply).dump() + reply.error.str(); }

}  // namespace kernelwright
