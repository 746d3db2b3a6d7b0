// The idea: sizes go wrong in kinds, and each kind is a way of picking a number below a ceiling: the least,
// primes, neighbours of powers of two and of tiles, sizes that vector loads like or half like, and anything
// between. A style says which kind each symbol gets: all small, all beside a tile, one large and the others
// least (both extreme aspect ratios), and so on. Where a shape would cost too much, the ceiling of its
// largest symbol is halved and that symbol is picked anew, so that it stays of its kind.
#include "verifiers/gate/unlisted_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "verifiers/gate/gate.h"
#include "verifiers/numerics/draws.h"
#include "verifiers/numerics/random.h"

namespace kernelwright {
namespace {

enum class Kind {
    least,
    small,
    prime,
    beside_power,
    before_tile,
    after_tile,
    aligned,
    even,
    between,
    large_prime,
    large_aligned
};
constexpr std::array any_kind{Kind::small,      Kind::prime,   Kind::beside_power, Kind::before_tile,
                              Kind::after_tile, Kind::aligned, Kind::even,         Kind::between};

// What a symbol may be, in units of its `multiple_of`.
struct Span {
    const SymbolRange* symbol;
    std::int64_t low, high;
    // A symbol of few values takes them in turn, one a shape, so that all are met soon.
    bool few() const { return high - low < 16; }
};

// A stream of numbers, each asked for once.
class Picks {
  public:
    Picks(std::uint64_t seed, const Task& task) : random_(seed, "unlisted shapes/" + task.name) {}
    std::int64_t integer(std::int64_t lo, std::int64_t hi) { return random_.integer(next_++, lo, hi); }
    // In lo .. hi with every magnitude as likely as any other. Doubling instead of a logarithm: the same on
    // every machine.
    std::int64_t magnitude(std::int64_t lo, std::int64_t hi) {
        std::int64_t doublings = 0;
        while (lo <= (hi >> (doublings + 1))) ++doublings;
        const std::int64_t from = lo << integer(0, doublings);
        return integer(from, std::min(hi, from >= hi - from ? hi : 2 * from));
    }

  private:
    RandomStream random_;
    std::int64_t next_ = 0;
};

bool is_prime(std::int64_t n) {
    if (n < 2) return false;
    for (std::int64_t d = 2; d * d <= n; ++d) {
        if (n % d == 0) return false;
    }
    return true;
}

// A number of the kind in low .. high; the nearest end where the kind has none there.
std::int64_t pick(Picks& picks, Kind kind, std::int64_t low, std::int64_t high) {
    constexpr std::array<std::int64_t, 7> tiles{16, 32, 64, 96, 128, 256, 512};
    constexpr std::array<std::int64_t, 4> vectors{4, 8, 16, 32};
    const auto inside = [&](std::int64_t n) { return std::clamp(n, low, high); };
    const auto larger_of_two = [&] {
        return std::max(picks.magnitude(low, high), picks.magnitude(low, high));
    };
    switch (kind) {
        case Kind::least:
            return low;
        case Kind::small:
            return picks.integer(low, std::min(high, low + 8));
        case Kind::prime: {
            std::int64_t n = larger_of_two();
            while (n > low && !is_prime(n)) --n;
            return n;
        }
        case Kind::beside_power: {
            std::int64_t power = 4;
            for (std::int64_t n = picks.magnitude(low, high); 2 * power <= n;) power *= 2;
            return inside(power + (picks.integer(0, 1) == 0 ? -1 : 1));
        }
        case Kind::before_tile:
        case Kind::after_tile: {
            std::int64_t tile = tiles[static_cast<std::size_t>(picks.integer(0, 6))];
            const std::int64_t beside = kind == Kind::after_tile ? 1 : -1;
            while (tile + beside > high && tile > 16) tile /= 2;
            const std::int64_t most = std::max<std::int64_t>(1, (high - beside) / tile);
            return inside(tile * picks.integer(1, std::min<std::int64_t>(most, 9)) + beside);
        }
        case Kind::aligned: {
            const std::int64_t width = vectors[static_cast<std::size_t>(picks.integer(0, 3))];
            return inside(std::max(larger_of_two() / width * width, width));
        }
        case Kind::even:  // and no multiple of 4
            return inside(larger_of_two() / 4 * 4 + 2);
        case Kind::between:
            return picks.magnitude(low, high);
        case Kind::large_prime: {
            std::int64_t n = picks.integer(std::max(low, high - high / 3), high);
            while (n > low && !is_prime(n)) --n;
            return n;
        }
        case Kind::large_aligned: {
            return inside(picks.integer(std::max(low, high - high / 3), high) / 8 * 8);
        }
    }
    return low;
}

std::vector<Span> spans_of(const Task& task) {
    std::vector<Span> out;
    for (const SymbolRange& symbol : task.symbols) {
        std::int64_t most = symbol.min;
        for (const auto* shapes : {&task.check_shapes, &task.tune_shapes}) {
            for (const SymbolValues& shape : *shapes) {
                const auto it = shape.find(symbol.name);
                if (it != shape.end()) most = std::max(most, it->second);
            }
        }
        most = std::min(symbol.max.value_or(most), TaskLimits::check_elements);
        const std::int64_t unit = symbol.multiple_of;
        const std::int64_t low = (std::max<std::int64_t>(symbol.min, 1) + unit - 1) / unit;
        out.push_back({&symbol, low, std::max(low, most / unit)});
    }
    return out;
}

// Elements and operations: what the reference and a plain kernel take.
double cost_of(const Task& task, const SymbolValues& symbols) {
    double cost = 0;
    for (const auto* list : {&task.inputs, &task.outputs}) {
        for (const TensorSpec& spec : *list) {
            const auto shape = spec.shape_at(symbols);
            if (!shape) continue;
            double elements = 1;
            for (const std::int64_t extent : *shape) elements *= static_cast<double>(extent);
            cost += elements;
        }
    }
    if (task.op.empty()) return cost;
    const auto work = task_work(task, symbols);
    return work ? cost + work->flops : cost;
}

bool possible(const Task& task, const SymbolValues& symbols) {
    return check_shape(task, symbols, TaskLimits::check_elements).ok() && op_takes_shape(task, symbols).ok();
}

// One style: the kind of each symbol, and what the shape may cost as a share of all check shapes.
struct Style {
    std::function<Kind(std::size_t)> kind;
    double share;
};

Style style_number(std::size_t number, std::size_t symbols, const std::vector<std::size_t>& roomy,
                   std::size_t first, Picks& picks) {
    constexpr double usual = 0.05, wide = 0.1;
    const auto all = [](Kind kind) { return [kind](std::size_t) { return kind; }; };
    // Each symbol in turn is the large one, as a prime and as a multiple of 8.
    const auto one_large = [&](std::size_t turn) {
        const std::size_t count = std::max<std::size_t>(roomy.size(), 1);
        const std::size_t large = roomy.empty() ? 0 : roomy[(first + turn) % count];
        const bool odd = (count % 2 == 0 ? turn + turn / count : turn) % 2 == 0;
        return [large, odd](std::size_t i) {
            if (i == large) return odd ? Kind::large_prime : Kind::large_aligned;
            return odd ? Kind::least : Kind::small;
        };
    };
    switch (number) {
        case 0:
            return {all(Kind::after_tile), usual};
        case 1:
            return {one_large(0), wide};
        case 2:
            return {all(Kind::aligned), usual};
        case 3:
            return {one_large(1), wide};
        case 4:
            return {all(Kind::before_tile), usual};
        case 5:
            return {all(Kind::even), usual};
        case 6:
            return {all(Kind::small), usual};
        case 7:
            return {all(Kind::prime), usual};
        case 8:
            return {all(Kind::aligned), wide};
        case 9:
        case 10:
            return {one_large(number - 7), wide};
        default: {
            std::vector<Kind> kinds;
            for (std::size_t i = 0; i < symbols; ++i)
                kinds.push_back(any_kind[static_cast<std::size_t>(
                    picks.integer(0, static_cast<std::int64_t>(any_kind.size()) - 1))]);
            return {[kinds](std::size_t i) { return kinds[i]; }, usual};
        }
    }
}

// A shape of the style that costs no more than `limit`; nullopt where there is none.
std::optional<SymbolValues> draw_shape(const Task& task, std::vector<Span> spans, const Style& style,
                                       std::size_t number, std::int64_t first, double limit, Picks& picks) {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        Span& span = spans[i];
        if (span.few()) {
            const std::int64_t count = span.high - span.low + 1,
                               turn = static_cast<std::int64_t>(number) % count;
            span.low = span.high = span.low + (first + (i % 2 == 0 ? turn : count - turn)) % count;
        }
        values.push_back(pick(picks, style.kind(i), span.low, span.high));
    }
    while (true) {
        SymbolValues symbols;
        for (std::size_t i = 0; i < spans.size(); ++i)
            symbols[spans[i].symbol->name] = values[i] * spans[i].symbol->multiple_of;
        if (cost_of(task, symbols) <= limit) {
            if (possible(task, symbols)) return symbols;
            return std::nullopt;
        }
        std::size_t largest = spans.size();
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const bool room = values[i] > spans[i].low;
            if (room && (largest == spans.size() || values[i] > values[largest])) largest = i;
        }
        if (largest == spans.size()) return std::nullopt;
        Span& span = spans[largest];
        span.high = std::max(span.low, std::min(span.high, values[largest]) / 2);
        values[largest] = pick(picks, style.kind(largest), span.low, span.high);
    }
}

}  // namespace

std::vector<SymbolValues> unlisted_shapes(const Task& task, std::uint64_t seed, std::size_t most) {
    std::vector<SymbolValues> out;
    if (task.symbols.empty()) return out;
    const std::vector<Span> spans = spans_of(task);
    double all = 0, least = 0;
    for (const SymbolValues& shape : task.check_shapes) {
        const double cost = cost_of(task, shape);
        all += cost;
        least = least == 0 ? cost : std::min(least, cost);
    }
    Picks picks(seed, task);
    const std::int64_t first = picks.integer(0, 999);
    std::vector<std::size_t> roomy;  // symbols that can be large
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (!spans[i].few()) roomy.push_back(i);
    }
    // Some tries end at a listed shape, or at one that the op cannot have.
    for (std::size_t number = 0; number < 6 * most && out.size() < most; ++number) {
        const Style style = style_number(number, spans.size(), roomy, static_cast<std::size_t>(first), picks);
        const auto shape = draw_shape(task, spans, style, number, first,
                                      std::max({style.share * all, 2 * least, 4096.0}), picks);
        if (!shape) continue;
        const auto known = [&](const std::vector<SymbolValues>& list) {
            return std::find(list.begin(), list.end(), *shape) != list.end();
        };
        if (known(task.check_shapes) || known(task.tune_shapes) || known(out)) continue;
        out.push_back(*shape);
    }
    return out;
}

std::vector<RangeEnd> range_ends(const Task& task) {
    std::vector<RangeEnd> out;
    const std::vector<Span> spans = spans_of(task);
    SymbolValues least;
    double all = 0;
    for (const Span& span : spans) least[span.symbol->name] = span.low * span.symbol->multiple_of;
    for (const SymbolValues& shape : task.check_shapes) all += cost_of(task, shape);
    std::vector<SymbolValues> bases{least};
    bases.insert(bases.end(), task.check_shapes.begin(), task.check_shapes.end());
    const auto add = [&](SymbolValues symbols) {
        const bool had =
            std::any_of(out.begin(), out.end(), [&](const RangeEnd& e) { return e.symbols == symbols; });
        const auto listed = [&](const std::vector<SymbolValues>& list) {
            return std::find(list.begin(), list.end(), symbols) != list.end();
        };
        if (had || listed(task.check_shapes) || listed(task.tune_shapes)) return true;
        if (!check_shape(task, symbols, TaskLimits::tune_elements).ok() ||
            !op_takes_shape(task, symbols).ok())
            return false;
        const double cost = cost_of(task, symbols);
        constexpr double most_for_a_plan = 1 << 22;
        const bool fits = possible(task, symbols);
        out.push_back({std::move(symbols), fits && cost <= std::max(0.1 * all, 4096.0),
                       fits && cost <= most_for_a_plan});
        return true;
    };
    SymbolValues most = least;
    for (const Span& span : spans) {
        if (!span.symbol->max) continue;
        const std::int64_t end = *span.symbol->max / span.symbol->multiple_of * span.symbol->multiple_of;
        most[span.symbol->name] = end;
        // The others as small as the op bears.
        for (SymbolValues base : bases) {
            base[span.symbol->name] = end;
            if (add(std::move(base))) break;
        }
    }
    if (most != least) (void)add(std::move(most));
    return out;
}

}  // namespace kernelwright
