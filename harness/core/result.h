// Expected failures are values: a Result<T> holds a T or an Error. Exceptions are for bugs and broken
// environments only.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace kernelwright {

// One clear line that says what is wrong, where, and how to mend it.
struct Error {
    std::string message;
    std::string file = {};  // empty: no source place
    int line = 0;           // 1-based; 0: unknown
    int column = 0;         // 1-based; 0: unknown
    std::string hint = {};  // how to mend it; may be empty

    // "file:line:column: message (hint)", leaving out what is unknown.
    std::string str() const;
    bool operator==(const Error&) const = default;
};

template <class T, class E = Error>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    E& error() & { return std::get<1>(state_); }
    const E& error() const& { return std::get<1>(state_); }

  private:
    std::variant<T, E> state_;
};

// The Result of a step that has nothing to return.
struct Done {
    bool operator==(const Done&) const = default;
};
using Status = Result<Done>;

}  // namespace kernelwright
