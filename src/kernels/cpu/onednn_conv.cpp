// Convolutions by oneDNN, split into up to 32 tasks by their shape and layout alone: by images or,
// for a single contiguous image, by groups or by channels of the result. A weight's gradient that
// is split by images is computed as partial sums, which are added at the end. Bound by the
// multiplications and by the copies into oneDNN's layouts.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "core/parallel_for.h"
#include "core/process_end.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/onednn_conv_plan.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu::onednn {

namespace {

using Desc = dnnl::memory::desc;

constexpr double kMinWork = 1 << 18;   // multiplications that are worth a library call
constexpr double kTaskWork = 1 << 20;  // multiplications that are worth a task
constexpr int64_t kMaxTasks = 32;
constexpr int64_t kMaxSums = 8;             // partial sums of a weight's gradient
constexpr int64_t kMaxSumBytes = 64 << 20;  // of all partial sums together
constexpr int64_t kFewChannels = 4;         // input channels; oneDNN computes their gradient slowly
constexpr int64_t kChannelMultiple = 16;    // oneDNN's own block size

double work_of(const ConvParams& p) {
  return double(p.out.numel) * double(p.weight.numel / p.weight.sizes[0]);
}

/// Returns the memory of a tensor in the wanted layout: its data if they have that layout, else
/// scratch memory, which this function does not fill.
dnnl::memory in_layout(const Desc& plain, const Desc& wanted, void* data, void* scratch) {
  return {wanted, engine(), plain == wanted ? data : scratch};
}

void reorder(const dnnl::memory& from, const dnnl::memory& to, dnnl::stream& stream) {
  dnnl::memory source = from, target = to;
  dnnl::reorder(source, target).execute(stream, source, target);
}

/// A convolution split into tasks.
class SplitConv {
 public:
  explicit SplitConv(const ConvParams& p) : p_(p) {
    const int64_t images = p.in.sizes[0];
    if (images > 1 || !p.in.contiguous() || !p.out.contiguous()) {
      split_ = Split::kImages;
      set_task_size(images, 1, max_image_tasks());
    } else if (p.groups > 1) {
      split_ = Split::kGroups;
      set_task_size(p.groups, 1, kMaxTasks);
    } else {
      split_ = Split::kChannels;
      set_task_size(p.computed().sizes[channel_dim()], kChannelMultiple, kMaxTasks);
    }
    has_partial_sums_ = p.part == ConvPart::kWeight && split_ == Split::kImages;
    first_ = plan_for(task(0));
    last_ = num_tasks_ > 1 ? plan_for(task(num_tasks_ - 1)) : first_;
  }

  bool is_possible() const {
    // Partial sums are added element by element, so all weights must have one layout.
    return first_ && last_ && (!has_partial_sums_ || first_->weight == last_->weight);
  }

  void run(Ctx& ctx) {
    const int slots = task_slots(num_tasks_);
    Scratch scratch(*this, slots, ctx);
    if (split_ == Split::kImages && !has_partial_sums_) reorder_weight(scratch);
    if (split_ == Split::kChannels) reorder_shared(scratch);
    parallel_tasks(num_tasks_, slots, [&](int64_t i, int slot) { run_task(i, slot, scratch); });
    if (has_partial_sums_) add_partial_sums(scratch);
  }

 private:
  /// Scratch memory for reordered tensors: one part per slot, and separate ones for weights and
  /// tensors that tasks share.
  struct Scratch {
    Scratch(const SplitConv& conv, int slots, Ctx& ctx)
        : in(conv.max_bytes(&ConvPlan::in)),
          out(conv.max_bytes(&ConvPlan::out)),
          pad(conv.max_bytes(&ConvPlan::scratchpad)),
          weight(conv.max_bytes(&ConvPlan::weight)) {
      const bool own_weights = conv.split_ != Split::kImages;
      per_slot = in + out + pad + (own_weights ? weight : 0);
      slot_memory = static_cast<char*>(ctx.scratch(per_slot * size_t(slots)));
      // One for each partial sum, or one for each plan (first_ and last_) in its layout.
      const size_t weights = conv.has_partial_sums_ ? size_t(conv.num_tasks_) : own_weights ? 0 : 2;
      weight_memory = static_cast<char*>(ctx.scratch(weight * weights));
      shared = conv.shares_in() ? in : out;
      shared_memory =
          static_cast<char*>(ctx.scratch(conv.split_ == Split::kChannels ? 2 * shared : 0));
    }
    char* of_slot(int slot) const { return slot_memory + per_slot * size_t(slot); }
    char* weight_at(int64_t i) const { return weight_memory + weight * size_t(i); }
    char* shared_at(int64_t i) const { return shared_memory + shared * size_t(i); }

    size_t in, out, pad, weight, shared;  // in bytes
    size_t per_slot;
    char *slot_memory, *weight_memory, *shared_memory;
  };

  enum class Split { kImages, kGroups, kChannels };

  /// Splits `whole` images, groups or channels into up to `max_tasks` tasks, at multiples of
  /// `multiple`.
  void set_task_size(int64_t whole, int64_t multiple, int64_t max_tasks) {
    const double wanted_tasks = std::min(work_of(p_) / kTaskWork, double(max_tasks));
    const int64_t units = (whole + multiple - 1) / multiple;
    const int64_t tasks = std::clamp<int64_t>(int64_t(wanted_tasks), 1, units);
    task_size_ = (units + tasks - 1) / tasks * multiple;
    num_tasks_ = (whole + task_size_ - 1) / task_size_;
  }
  int channel_dim() const { return p_.part == ConvPart::kWeight ? 0 : 1; }
  int64_t max_image_tasks() const {
    if (p_.part != ConvPart::kWeight) return kMaxTasks;
    const int64_t bytes = p_.weight.numel * int64_t(sizeof(float));
    return std::clamp<int64_t>(kMaxSumBytes / bytes, 1, kMaxSums);
  }
  size_t max_bytes(Desc ConvPlan::*desc) const {
    constexpr size_t kCacheLine = 64;
    const size_t bytes = std::max((*first_.*desc).get_size(), (*last_.*desc).get_size());
    return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  const ConvPlan& plan(int64_t i) const { return i + 1 < num_tasks_ ? *first_ : *last_; }

  /// Returns the part of the convolution that task i computes.
  ConvParams task(int64_t i) const {
    ConvParams result = p_;
    if (num_tasks_ == 1) return result;
    const auto cut = [&](View& view, int d, int64_t unit) {
      const int64_t size = task_size_ * unit;
      if (view.defined()) view = slice(view, d, i * size, std::min(view.sizes[d], (i + 1) * size));
    };
    const bool computes_in = p_.part == ConvPart::kIn;
    switch (split_) {
      case Split::kImages:
        cut(result.in, 0, 1);
        cut(result.out, 0, 1);
        break;
      case Split::kGroups:
        cut(result.in, 1, p_.in.sizes[1] / p_.groups);
        cut(result.out, 1, p_.out.sizes[1] / p_.groups);
        cut(result.weight, 0, p_.out.sizes[1] / p_.groups);
        cut(result.bias, 0, p_.computed().sizes[1] / p_.groups);
        result.groups = std::min(p_.groups, (i + 1) * task_size_) - i * task_size_;
        break;
      case Split::kChannels:
        cut(computes_in ? result.in : result.out, 1, 1);
        cut(result.weight, computes_in ? 1 : 0, 1);
        cut(result.bias, 0, 1);
        break;
    }
    return result;
  }

  /// Reorders the weight, which all tasks read, into the primitives' layouts once.
  void reorder_weight(const Scratch& scratch) {
    const Desc plain = weight_desc(p_.weight, p_.groups);
    dnnl::stream stream(engine());
    const ConvPlan* const plans[] = {first_.get(), last_.get()};
    for (int i = 0; i < 2; ++i)
      if (plans[i]->weight != plain && (i == 0 || plans[1] != plans[0]))
        reorder({plain, engine(), p_.weight.data},
                {plans[i]->weight, engine(), scratch.weight_at(i)}, stream);
    stream.wait();
  }

  /// Whether all tasks of a split by channels read the whole `in`, or the whole `out`.
  bool shares_in() const { return split_ == Split::kChannels && p_.part != ConvPart::kIn; }
  bool shares_out() const { return split_ == Split::kChannels && p_.part == ConvPart::kIn; }

  /// Reorders the tensor that all tasks read, in or out, into the primitives' layouts once.
  void reorder_shared(const Scratch& scratch) {
    const View& view = shares_in() ? p_.in : p_.out;
    const Desc plain = plain_desc(view);
    dnnl::stream stream(engine());
    const ConvPlan* const plans[] = {first_.get(), last_.get()};
    for (int i = 0; i < 2; ++i) {
      const Desc& wanted = shares_in() ? plans[i]->in : plans[i]->out;
      if (wanted != plain && (i == 0 || plans[1] != plans[0]))
        reorder({plain, engine(), view.data}, {wanted, engine(), scratch.shared_at(i)}, stream);
    }
    stream.wait();
  }

  /// Returns the weight that task i's primitive reads or writes.
  dnnl::memory weight_of(int64_t i, const ConvParams& task, int slot,
                         const Scratch& scratch) const {
    const ConvPlan& plan = this->plan(i);
    const Desc plain = weight_desc(task.weight, task.groups);
    if (has_partial_sums_) return {plan.weight, engine(), scratch.weight_at(i)};
    if (split_ != Split::kImages)
      return in_layout(plain, plan.weight, task.weight.data,
                       scratch.of_slot(slot) + scratch.in + scratch.out + scratch.pad);
    return in_layout(plain, plan.weight, task.weight.data,
                     scratch.weight_at(&plan == first_.get() ? 0 : 1));
  }

  void run_task(int64_t i, int slot, const Scratch& scratch) const {
    const ConvParams p = task(i);
    const ConvPlan& plan = this->plan(i);
    char* const memory = scratch.of_slot(slot);
    const Desc plain_in = plain_desc(p.in), plain_out = plain_desc(p.out);
    const Desc plain_weight = weight_desc(p.weight, p.groups);
    char* const shared = scratch.shared_at(&plan == first_.get() ? 0 : 1);
    const dnnl::memory in = in_layout(plain_in, plan.in, p.in.data, shares_in() ? shared : memory);
    const dnnl::memory out =
        in_layout(plain_out, plan.out, p.out.data, shares_out() ? shared : memory + scratch.in);
    const dnnl::memory weight = weight_of(i, p, slot, scratch);
    dnnl::stream stream(engine());
    const auto read = [&](const View& view, const Desc& plain, const dnnl::memory& to) {
      if (to.get_data_handle() != view.data) reorder({plain, engine(), view.data}, to, stream);
    };
    const auto write = [&](const View& view, const Desc& plain, const dnnl::memory& from) {
      if (from.get_data_handle() != view.data) reorder(from, {plain, engine(), view.data}, stream);
    };
    if (p.part != ConvPart::kIn && !shares_in()) read(p.in, plain_in, in);
    if (p.part != ConvPart::kOut && !shares_out()) read(p.out, plain_out, out);
    if (p.part != ConvPart::kWeight && split_ != Split::kImages)
      read(p.weight, plain_weight, weight);
    execute(p, plan, in, weight, out, memory + scratch.in + scratch.out, stream);
    if (p.part == ConvPart::kIn) write(p.in, plain_in, in);
    if (p.part == ConvPart::kOut) write(p.out, plain_out, out);
    if (p.part == ConvPart::kWeight && split_ != Split::kImages)
      write(p.weight, plain_weight, weight);
    stream.wait();
  }

  static void execute(const ConvParams& p, const ConvPlan& plan, const dnnl::memory& in,
                      const dnnl::memory& weight, const dnnl::memory& out, char* scratchpad,
                      dnnl::stream& stream) {
    const bool computes_in = p.part == ConvPart::kIn;
    const bool computes_weight = p.part == ConvPart::kWeight;
    std::unordered_map<int, dnnl::memory> arguments{
        {computes_in ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, in},
        {computes_weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, weight},
        {computes_in || computes_weight ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, out},
        {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan.scratchpad, engine(), scratchpad)}};
    if (p.part == ConvPart::kOut && p.bias.defined())
      arguments.insert({DNNL_ARG_BIAS, dnnl::memory(plain_desc(p.bias), engine(), p.bias.data)});
    const NoSignals no_signals;
    plan.primitive.execute(stream, arguments);
  }

  /// Adds the tasks' partial sums in their order and writes the gradient in the tensor's own layout
  /// and dtype.
  void add_partial_sums(const Scratch& scratch) const {
    const int64_t numel = int64_t(first_->weight.get_size() / sizeof(float));
    constexpr int64_t kGrain = 1 << 14;
    float* const sum = reinterpret_cast<float*>(scratch.weight_at(0));
    parallel_for(0, numel, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t k = 1; k < num_tasks_; ++k) {
        const float* const partial = reinterpret_cast<const float*>(scratch.weight_at(k));
        for (int64_t i = begin; i < end; ++i) sum[i] += partial[i];
      }
    });
    dnnl::stream stream(engine());
    reorder({first_->weight, engine(), sum},
            {weight_desc(p_.weight, p_.groups), engine(), p_.weight.data}, stream);
    stream.wait();
  }

  const ConvParams& p_;
  int64_t task_size_ = 1;  // images, groups or channels
  int64_t num_tasks_ = 1;
  Split split_ = Split::kImages;
  bool has_partial_sums_ = false;
  std::shared_ptr<const ConvPlan> first_, last_;  // of all tasks but the last, and of the last
};

}  // namespace

bool suits_conv(const ConvParams& p) {
  constexpr int64_t kMinDepthwiseGroups = 8;
  const int64_t in = p.weight.sizes[1], out = p.out.sizes[1] / p.groups;
  if (work_of(p) < kMinWork) return false;
  if (in == 1 && out == 1 && p.groups > 1) return p.groups >= kMinDepthwiseGroups;
  return p.part != ConvPart::kIn || in > kFewChannels;
}

bool conv(const ConvParams& p, Ctx& ctx) {
  const LibraryCall call;
  const LibraryThreadsGuard guard;
  SplitConv conv(p);
  if (!conv.is_possible()) return false;
  conv.run(ctx);
  return true;
}

}  // namespace hearth::cpu::onednn
