#include "verifiers/gate/expectations.h"

#include <fmt/format.h>

#include <list>
#include <mutex>
#include <utility>

#include "verifiers/gate/changed_draws.h"
#include "verifiers/gate/custom_reference.h"
#include "verifiers/numerics/draws.h"

namespace kernelwright {
namespace {

std::size_t bytes_of(const CaseExpectation& e) {
    std::size_t bytes = 0;
    for (const Tensor& t : e.inputs) bytes += t.data.size();
    for (const Expected& o : e.outputs) bytes += o.value.size() * 16 + o.integer.size() * 8;
    return bytes;
}

class CachedExpectations final : public Expectations {
  public:
    CachedExpectations(Task task, std::unique_ptr<CudaReference> cuda)
        : task_(std::move(task)), cuda_(std::move(cuda)) {}

    Result<std::shared_ptr<const CaseExpectation>> get(const SymbolValues& symbols,
                                                       const std::string& case_name,
                                                       std::uint64_t seed) override {
        const std::string key = fmt::format("{}|{}|{}", Json(symbols).dump(), case_name, seed);
        // One lock over the computation too: whoever asks for what is being computed waits for it.
        const std::lock_guard lock(mutex_);
        for (auto it = kept_.begin(); it != kept_.end(); ++it) {
            if (it->key != key) continue;
            kept_.splice(kept_.begin(), kept_, it);
            return it->expectation;
        }
        auto made = make(symbols, case_name, seed);
        if (!made) return made.error();
        auto expectation = std::make_shared<const CaseExpectation>(std::move(*made));
        kept_bytes_ += bytes_of(*expectation);
        kept_.push_front({key, expectation});
        while (kept_bytes_ > cache_bytes && kept_.size() > 1) {
            kept_bytes_ -= bytes_of(*kept_.back().expectation);
            kept_.pop_back();
        }
        return expectation;
    }

    std::string warning() const override { return cuda_ ? cuda_->warning() : std::string(); }

    std::optional<std::string> too_large(const SymbolValues& symbols) override {
        double elements = 0;
        for (const auto* list : {&task_.inputs, &task_.outputs}) {
            for (const TensorSpec& spec : *list) {
                const auto shape = spec.shape_at(symbols);
                if (shape) elements += static_cast<double>(element_count(*shape));
            }
        }
        const auto over = [](double value, double limit, const char* what) -> std::optional<std::string> {
            if (value <= limit) return std::nullopt;
            return fmt::format("{:.2g} {}, and at most {:.2g} are taken", value, what, limit);
        };
        if (!task_.reference_command.empty())
            return over(elements, command_elements, "elements go through the reference command");
        if (auto reason = over(elements, most_elements, "elements in all tensors")) return reason;
        if (cuda_) {
            const std::lock_guard lock(mutex_);  // the block runs one evaluation at a time
            const auto work = cuda_->work(symbols);
            if (!work) return "the page's reference has no answer: " + work.error().message;
            return over(*work, most_instructions, "warp instructions for the page's reference block");
        }
        const auto work = task_work(task_, symbols);
        if (!work) return "the op's work is not known";
        return over(work->flops, most_flops, "operations for the reference");
    }

    std::size_t most_draws() const override { return task_.reference_command.empty() ? 1000 : 5; }

    std::size_t most_unlisted_shapes() const override {
        if (!task_.op.empty()) return 12;
        return task_.reference_command.empty() ? 4 : 2;
    }

  private:
    static constexpr std::size_t cache_bytes = std::size_t{1} << 30;
    // Each takes some seconds at most.
    static constexpr double most_elements = 1.6e7, command_elements = 4e6, most_flops = 1e9,
                            most_instructions = 1e8;

    Result<CaseExpectation> make(const SymbolValues& symbols, const std::string& case_name,
                                 std::uint64_t seed) {
        CaseExpectation e;
        auto inputs = draw_case(task_, symbols, case_name, seed);
        if (!inputs) return inputs.error();
        e.inputs = std::move(*inputs);
        Result<std::vector<Expected>> outputs = std::vector<Expected>{};
        if (cuda_ != nullptr) {
            outputs = cuda_->evaluate(symbols, e.inputs);
        } else if (!task_.reference_command.empty()) {
            outputs = command_reference(task_, symbols, e.inputs);
        } else {
            outputs = expected_outputs(task_, symbols, e.inputs);
        }
        if (!outputs) return outputs.error();
        e.outputs = std::move(*outputs);
        return e;
    }

    struct Kept {
        std::string key;
        std::shared_ptr<const CaseExpectation> expectation;
    };

    Task task_;
    std::unique_ptr<CudaReference> cuda_;
    std::mutex mutex_;
    std::list<Kept> kept_;  // most recently used first
    std::size_t kept_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Expectations>> make_expectations(const Task& task, Compiler& compiler,
                                                        Device& device) {
    std::unique_ptr<CudaReference> cuda;
    if (task.reference_code) {
        auto made = CudaReference::make(task, compiler, device);
        if (!made) return made.error();
        cuda = std::move(*made);
    }
    return std::unique_ptr<Expectations>(std::make_unique<CachedExpectations>(task, std::move(cuda)));
}

}  // namespace kernelwright
