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

constexpr double kLeastWork = 1 << 18;  // multiplications that are worth a library call
constexpr double kPartWork = 1 << 20;   // worth a thread of its own
constexpr int64_t kMostParts = 32;
constexpr int64_t kMostSums = 8;             // of a weight's gradient
constexpr int64_t kMostSumBytes = 64 << 20;  // of all of them
constexpr int64_t kFewChannels = 4;          // of a gradient that oneDNN is slow for
constexpr int64_t kChannelMultiple = 16;     // oneDNN's own blocks

double work_of(const ConvParams& p) {
  return double(p.out.numel) * double(p.weight.numel / p.weight.sizes[0]);
}

/// Memory in a layout, where the plain tensor does not have it.
dnnl::memory in_layout(const Desc& plain, const Desc& wanted, void* data, void* scratch) {
  return {wanted, engine(), plain == wanted ? data : scratch};
}

void move(const dnnl::memory& from, const dnnl::memory& to, dnnl::stream& stream) {
  dnnl::memory source = from, target = to;
  dnnl::reorder(source, target).execute(stream, source, target);
}

/// A convolution cut into parts for threads, by its shape alone: images, or, of a single image, its
/// groups or the channels of the result. What the parts of a weight's gradient compute of several
/// images is added up at the end.
class PartedConv {
 public:
  explicit PartedConv(const ConvParams& p) : p_(p) {
    const int64_t images = p.in.sizes[0];
    if (images > 1 || !p.in.contiguous() || !p.out.contiguous()) {
      cut_ = Cut::kImages;
      cut_into(images, 1, most_parts());
    } else if (p.groups > 1) {
      cut_ = Cut::kGroups;
      cut_into(p.groups, 1, kMostParts);
    } else {
      cut_ = Cut::kChannels;
      cut_into(p.computed().sizes[channel_dim()], kChannelMultiple, kMostParts);
    }
    adds_up_ = p.part == ConvPart::kWeight && cut_ == Cut::kImages;
    first_ = plan_for(part(0));
    last_ = count_ > 1 ? plan_for(part(count_ - 1)) : first_;
  }

  bool possible() const {
    // Partial sums are added as they lie, so all must have one layout.
    return first_ && last_ && (!adds_up_ || first_->weight == last_->weight);
  }

  void run(Ctx& ctx) {
    const int slots = task_slots(count_);
    Scratch scratch(*this, slots, ctx);
    if (cut_ == Cut::kImages && !adds_up_) prepare_weight(scratch);
    if (cut_ == Cut::kChannels) prepare_shared(scratch);
    parallel_tasks(count_, slots, [&](int64_t i, int slot) { run_part(i, slot, scratch); });
    if (adds_up_) finish_weight(scratch);
  }

 private:
  /// Memory for layouts that are not the tensors' own, one of each kind per slot.
  struct Scratch {
    Scratch(const PartedConv& conv, int slots, Ctx& ctx)
        : in(conv.most_bytes(&ConvPlan::in)),
          out(conv.most_bytes(&ConvPlan::out)),
          pad(conv.most_bytes(&ConvPlan::scratchpad)),
          weight(conv.most_bytes(&ConvPlan::weight)) {
      const bool own_weights = conv.cut_ != Cut::kImages;
      per_slot = in + out + pad + (own_weights ? weight : 0);
      slot_memory = static_cast<char*>(ctx.scratch(per_slot * size_t(slots)));
      const size_t weights = conv.adds_up_ ? size_t(conv.count_) : own_weights ? 0 : 2;
      weight_memory = static_cast<char*>(ctx.scratch(weight * weights));
      shared = conv.shares_in() ? in : out;
      shared_memory = static_cast<char*>(ctx.scratch(conv.cut_ == Cut::kChannels ? 2 * shared : 0));
    }
    char* of_slot(int slot) const { return slot_memory + per_slot * size_t(slot); }
    char* weight_at(int64_t i) const { return weight_memory + weight * size_t(i); }
    char* shared_at(int64_t i) const { return shared_memory + shared * size_t(i); }

    size_t in, out, pad, weight, shared;
    size_t per_slot;
    char *slot_memory, *weight_memory, *shared_memory;
  };

  enum class Cut { kImages, kGroups, kChannels };

  /// Cuts `whole` into parts that are worth a thread, at multiples of `multiple`.
  void cut_into(int64_t whole, int64_t multiple, int64_t most) {
    const double wanted = std::min(work_of(p_) / kPartWork, double(most));
    const int64_t units = (whole + multiple - 1) / multiple;
    const int64_t parts = std::clamp<int64_t>(int64_t(wanted), 1, units);
    size_ = (units + parts - 1) / parts * multiple;
    count_ = (whole + size_ - 1) / size_;
  }
  int channel_dim() const { return p_.part == ConvPart::kWeight ? 0 : 1; }
  int64_t most_parts() const {
    if (p_.part != ConvPart::kWeight) return kMostParts;
    const int64_t bytes = p_.weight.numel * int64_t(sizeof(float));
    return std::clamp<int64_t>(kMostSumBytes / bytes, 1, kMostSums);
  }
  size_t most_bytes(Desc ConvPlan::*desc) const {
    constexpr size_t kLine = 64;
    const size_t bytes = std::max((*first_.*desc).get_size(), (*last_.*desc).get_size());
    return (bytes + kLine - 1) / kLine * kLine;
  }
  const ConvPlan& plan(int64_t i) const { return i + 1 < count_ ? *first_ : *last_; }

  ConvParams part(int64_t i) const {
    ConvParams result = p_;
    if (count_ == 1) return result;
    const auto cut = [&](View& view, int d, int64_t unit) {
      const int64_t size = size_ * unit;
      if (view.defined()) view = slice(view, d, i * size, std::min(view.sizes[d], (i + 1) * size));
    };
    const bool of_in = p_.part == ConvPart::kIn;
    switch (cut_) {
      case Cut::kImages:
        cut(result.in, 0, 1);
        cut(result.out, 0, 1);
        break;
      case Cut::kGroups:
        cut(result.in, 1, p_.in.sizes[1] / p_.groups);
        cut(result.out, 1, p_.out.sizes[1] / p_.groups);
        cut(result.weight, 0, p_.out.sizes[1] / p_.groups);
        cut(result.bias, 0, p_.computed().sizes[1] / p_.groups);
        result.groups = std::min(p_.groups, (i + 1) * size_) - i * size_;
        break;
      case Cut::kChannels:
        cut(of_in ? result.in : result.out, 1, 1);
        cut(result.weight, of_in ? 1 : 0, 1);
        cut(result.bias, 0, 1);
        break;
    }
    return result;
  }

  /// Weights that all parts read are brought into the primitives' layouts once.
  void prepare_weight(const Scratch& scratch) {
    const Desc plain = weight_desc(p_.weight, p_.groups);
    dnnl::stream stream(engine());
    const ConvPlan* const plans[] = {first_.get(), last_.get()};
    for (int i = 0; i < 2; ++i)
      if (plans[i]->weight != plain && (i == 0 || plans[1] != plans[0]))
        move({plain, engine(), p_.weight.data}, {plans[i]->weight, engine(), scratch.weight_at(i)},
             stream);
    stream.wait();
  }

  /// Of parts by channels, all read this one of in and out.
  bool shares_in() const { return cut_ == Cut::kChannels && p_.part != ConvPart::kIn; }
  bool shares_out() const { return cut_ == Cut::kChannels && p_.part == ConvPart::kIn; }

  void prepare_shared(const Scratch& scratch) {
    const View& view = shares_in() ? p_.in : p_.out;
    const Desc plain = plain_desc(view);
    dnnl::stream stream(engine());
    const ConvPlan* const plans[] = {first_.get(), last_.get()};
    for (int i = 0; i < 2; ++i) {
      const Desc& wanted = shares_in() ? plans[i]->in : plans[i]->out;
      if (wanted != plain && (i == 0 || plans[1] != plans[0]))
        move({plain, engine(), view.data}, {wanted, engine(), scratch.shared_at(i)}, stream);
    }
    stream.wait();
  }

  /// Where part i's primitive reads or writes the weight.
  dnnl::memory weight_of(int64_t i, const ConvParams& part, int slot,
                         const Scratch& scratch) const {
    const ConvPlan& plan = this->plan(i);
    const Desc plain = weight_desc(part.weight, part.groups);
    if (adds_up_) return {plan.weight, engine(), scratch.weight_at(i)};
    if (cut_ != Cut::kImages)
      return in_layout(plain, plan.weight, part.weight.data,
                       scratch.of_slot(slot) + scratch.in + scratch.out + scratch.pad);
    return in_layout(plain, plan.weight, part.weight.data,
                     scratch.weight_at(&plan == first_.get() ? 0 : 1));
  }

  void run_part(int64_t i, int slot, const Scratch& scratch) const {
    const ConvParams p = part(i);
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
    const auto bring = [&](const View& view, const Desc& plain, const dnnl::memory& to) {
      if (to.get_data_handle() != view.data) move({plain, engine(), view.data}, to, stream);
    };
    const auto give_back = [&](const View& view, const Desc& plain, const dnnl::memory& from) {
      if (from.get_data_handle() != view.data) move(from, {plain, engine(), view.data}, stream);
    };
    if (p.part != ConvPart::kIn && !shares_in()) bring(p.in, plain_in, in);
    if (p.part != ConvPart::kOut && !shares_out()) bring(p.out, plain_out, out);
    if (p.part != ConvPart::kWeight && cut_ != Cut::kImages) bring(p.weight, plain_weight, weight);
    execute(p, plan, in, weight, out, memory + scratch.in + scratch.out, stream);
    if (p.part == ConvPart::kIn) give_back(p.in, plain_in, in);
    if (p.part == ConvPart::kOut) give_back(p.out, plain_out, out);
    if (p.part == ConvPart::kWeight && cut_ != Cut::kImages)
      give_back(p.weight, plain_weight, weight);
    stream.wait();
  }

  static void execute(const ConvParams& p, const ConvPlan& plan, const dnnl::memory& in,
                      const dnnl::memory& weight, const dnnl::memory& out, char* scratchpad,
                      dnnl::stream& stream) {
    const bool gives_in = p.part == ConvPart::kIn, gives_weight = p.part == ConvPart::kWeight;
    std::unordered_map<int, dnnl::memory> arguments{
        {gives_in ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, in},
        {gives_weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, weight},
        {gives_in || gives_weight ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, out},
        {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan.scratchpad, engine(), scratchpad)}};
    if (p.part == ConvPart::kOut && p.bias.defined())
      arguments.insert({DNNL_ARG_BIAS, dnnl::memory(plain_desc(p.bias), engine(), p.bias.data)});
    plan.primitive.execute(stream, arguments);
  }

  /// The sum of the parts' gradients, in their order, back in the tensor's own layout and dtype.
  void finish_weight(const Scratch& scratch) const {
    const int64_t numel = int64_t(first_->weight.get_size() / sizeof(float));
    constexpr int64_t kGrain = 1 << 14;
    float* const sum = reinterpret_cast<float*>(scratch.weight_at(0));
    parallel_for(0, numel, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t k = 1; k < count_; ++k) {
        const float* const more = reinterpret_cast<const float*>(scratch.weight_at(k));
        for (int64_t i = begin; i < end; ++i) sum[i] += more[i];
      }
    });
    dnnl::stream stream(engine());
    move({first_->weight, engine(), sum},
         {weight_desc(p_.weight, p_.groups), engine(), p_.weight.data}, stream);
    stream.wait();
  }

  const ConvParams& p_;
  int64_t size_ = 1, count_ = 1;  // of a part, of parts
  Cut cut_ = Cut::kImages;
  bool adds_up_ = false;
  std::shared_ptr<const ConvPlan> first_, last_;
};

}  // namespace

bool suits_conv(const ConvParams& p) {
  const int64_t in = p.weight.sizes[1], out = p.out.sizes[1] / p.groups;
  if (work_of(p) < kLeastWork) return false;
  if (in == 1 && out == 1 && p.groups > 1) return p.groups >= 8;
  return p.part != ConvPart::kIn || in > kFewChannels;
}

bool conv(const ConvParams& p, Ctx& ctx) {
  const LibraryCall call;
  const LibraryThreadsGuard guard;
  PartedConv conv(p);
  if (!conv.possible()) return false;
  conv.run(ctx);
  return true;
}

}  // namespace hearth::cpu::onednn
