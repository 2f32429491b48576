// Convolutions with few channels, which leave many lanes of oneDNN's blocked layouts empty. The
// input rows that one column of the kernel reads are copied side by side ("shifted rows"). In all
// windows of an image, the elements for one weight are then a contiguous range, and each product
// needs one load per vector. A task is an image, for the weight's gradient up to 16. Bound by the
// multiplications.
#include "kernels/cpu/conv_small.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/conv_small_kernels.h"
#include "kernels/cpu/conv_small_rows.h"
#include "kernels/cpu/isa_table.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kBlock = 8;  // channels of a vector in oneDNN's layouts
constexpr int64_t kMaxChannels = 64;
constexpr int64_t kRowsBytes = 1 << 17;   // of one image's shifted rows, so that they stay in L2
constexpr int64_t kGroupBytes = 1 << 19;  // of the shifted rows of a group of images
constexpr int64_t kGroupImages = 16;

const ConvSmallTable& conv_small_loops() { return HEARTH_ISA_TABLE(conv_small_table); }

float* floats(int64_t count, Ctx& ctx) {
  return static_cast<float*>(ctx.scratch(size_t(count) * sizeof(float)));
}

float* zeros(int64_t count, Ctx& ctx) {
  float* const result = floats(count, ctx);
  std::fill_n(result, count, 0.0f);
  return result;
}

/// Writes factor(row, term) for all rows and terms in the order of ShiftedSums.
template <class F>
float* packed_factors(int64_t rows, int64_t terms, Ctx& ctx, const F& factor) {
  float* const packed = floats(rows * terms, ctx);
  float* to = packed;
  for (int64_t tile = 0; tile < shifted_tiles(rows); ++tile)
    for (int64_t term = 0; term < terms; ++term)
      for (int64_t row = first_row(rows, tile); row < first_row(rows, tile + 1); ++row)
        *to++ = factor(row, term);
  return packed;
}

class SmallConv {
 public:
  SmallConv(const ConvParams& params, Ctx& ctx) : p_(params), rows_(params), ctx_(ctx) {}

  void run() {
    if (p_.part == ConvPart::kOut)
      compute_out();
    else if (p_.part == ConvPart::kIn)
      compute_in();
    else
      compute_weight();
  }

 private:
  int64_t images() const { return p_.in.sizes[0]; }
  int64_t outputs() const { return p_.out.sizes[1]; }
  int64_t in_size() const { return p_.in.numel / images(); }
  int64_t out_size() const { return p_.out.numel / images(); }
  int64_t kernel_size() const { return rows_.kernel_h * rows_.kernel_w; }
  int64_t terms() const { return rows_.channels * kernel_size(); }

  /// The offsets of the windows' elements in the shifted rows, in the order of the weight.
  int64_t* offsets_of_windows() {
    auto* const offsets = static_cast<int64_t*>(ctx_.scratch(size_t(terms()) * sizeof(int64_t)));
    int64_t* to = offsets;
    for (int64_t c = 0; c < rows_.channels; ++c)
      for (int64_t y = 0; y < rows_.kernel_h; ++y)
        for (int64_t x = 0; x < rows_.kernel_w; ++x) *to++ = rows_.offset(c, y, x);
    return offsets;
  }

  RowMoves row_moves() {
    const int64_t count = rows_.count_moves();
    auto* const moves = static_cast<RowMove*>(ctx_.scratch(size_t(count) * sizeof(RowMove)));
    rows_.write_moves(moves);
    return {moves, count, rows_.stride()};
  }

  void compute_out() {
    const float* const weight = p_.weight.as<float>();
    const int64_t terms = this->terms(), size = rows_.size() + kShiftedSlack;
    const float* const factors =
        packed_factors(outputs(), terms, ctx_,
                       [&](int64_t row, int64_t term) { return weight[row * terms + term]; });
    const int64_t* const offsets = offsets_of_windows();
    const RowMoves moves = row_moves();
    const int slots = task_slots(images());
    float* const scratch = zeros(slots * size, ctx_);
    parallel_tasks(images(), slots, [&](int64_t image, int slot) {
      float* const x = scratch + slot * size;
      conv_small_loops().gather(moves, p_.in.as<float>() + image * in_size(), x);
      conv_small_loops().sums({factors, p_.bias.defined() ? p_.bias.as<float>() : nullptr, x,
                               offsets, terms, p_.out.as<float>() + image * out_size(),
                               rows_.plane_out(), outputs(), rows_.plane_out()});
    });
  }

  /// The gradients of the images are summed in groups, which depend on the shape only.
  void compute_weight() {
    const int64_t size = rows_.size(), numel = p_.weight.numel,
                  most = std::clamp<int64_t>(kGroupBytes / int64_t(size * sizeof(float)), 1,
                                             kGroupImages),
                  groups = (images() + most - 1) / most, largest = (images() + groups - 1) / groups;
    const int64_t* const offsets = offsets_of_windows();
    const RowMoves moves = row_moves();
    const int slots = task_slots(groups);
    float* const scratch = zeros(slots * largest * size, ctx_);
    float* const partial = groups > 1 ? floats(groups * numel, ctx_) : p_.weight.as<float>();
    parallel_tasks(groups, slots, [&](int64_t group, int slot) {
      const int64_t first = images() * group / groups,
                    count = images() * (group + 1) / groups - first;
      float* const x = scratch + slot * largest * size;
      for (int64_t i = 0; i < count; ++i)
        conv_small_loops().gather(moves, p_.in.as<float>() + (first + i) * in_size(), x + i * size);
      conv_small_loops().products({p_.out.as<float>() + first * out_size(), out_size(),
                                   rows_.plane_out(), x, size, offsets, terms(), count,
                                   partial + group * numel, outputs(), rows_.plane_out()});
    });
    if (groups == 1) return;
    float* const sum = p_.weight.as<float>();
    std::copy_n(partial, numel, sum);
    for (int64_t group = 1; group < groups; ++group)
      for (int64_t i = 0; i < numel; ++i) sum[i] += partial[group * numel + i];
  }

  /// The gradient of each shifted row is a sum over rows of the output's gradient, each channel of
  /// which has lead() rows of zeros before and after it; scatter() adds it to the input's gradient.
  void compute_in() {
    const int64_t lead = rows_.lead() * rows_.out_w, pitch = lead + rows_.plane(),
                  padded = outputs() * pitch + kShiftedSlack;
    const GradientPhase* const gradient = gradient_phases(lead, pitch);
    const int slots = task_slots(images());
    const RowMoves moves = row_moves();
    float* const scratch = zeros(slots * (padded + rows_.size()), ctx_);
    const float* const bias = p_.bias.defined() ? p_.bias.as<float>() : nullptr;
    parallel_tasks(images(), slots, [&](int64_t image, int slot) {
      float* const g = scratch + slot * padded;
      float* const x = scratch + slots * padded + slot * rows_.size();
      const float* const from = p_.out.as<float>() + image * out_size();
      for (int64_t o = 0; o < outputs(); ++o)
        std::copy_n(from + o * rows_.plane_out(), rows_.plane_out(), g + o * pitch + lead);
      for (int64_t phase = 0; phase < rows_.phases; ++phase) {
        const GradientPhase& part = gradient[phase];
        conv_small_loops().sums({part.factors, nullptr, g, part.offsets, part.terms,
                                 x + phase * rows_.plane(), rows_.phases * rows_.plane(),
                                 rows_.channels * rows_.kernel_w, rows_.plane()});
      }
      float* const to = p_.in.as<float>() + image * in_size();
      for (int64_t c = 0; c < rows_.channels; ++c)
        std::fill_n(to + c * rows_.plane_in(), rows_.plane_in(), bias ? bias[c] : 0.0f);
      conv_small_loops().scatter(moves, x, to);
    });
  }

  /// The factors, and the offsets of the rows of the output's gradient, for one phase of the
  /// shifted rows.
  struct GradientPhase {
    const float* factors;
    const int64_t* offsets;
    int64_t terms;
  };

  const GradientPhase* gradient_phases(int64_t lead, int64_t pitch) {
    auto* const phases =
        static_cast<GradientPhase*>(ctx_.scratch(size_t(rows_.phases) * sizeof(GradientPhase)));
    for (int64_t phase = 0; phase < rows_.phases; ++phase)
      phases[phase] = gradient_phase(phase, lead, pitch);
    return phases;
  }

  GradientPhase gradient_phase(int64_t phase, int64_t lead, int64_t pitch) {
    auto* const kernel_rows =
        static_cast<int64_t*>(ctx_.scratch(size_t(rows_.kernel_h) * sizeof(int64_t)));
    int64_t count = 0;
    for (int64_t y = 0; y < rows_.kernel_h; ++y)
      if (rows_.phase_of(y) == phase) kernel_rows[count++] = y;
    const int64_t terms = outputs() * count;
    auto* const offsets = static_cast<int64_t*>(ctx_.scratch(size_t(terms) * sizeof(int64_t)));
    for (int64_t i = 0; i < terms; ++i)
      offsets[i] = i / count * pitch + lead - rows_.shift_of(kernel_rows[i % count]) * rows_.out_w;
    const float* const weight = p_.weight.as<float>();
    const float* const factors = packed_factors(
        rows_.channels * rows_.kernel_w, terms, ctx_, [&](int64_t row, int64_t term) {
          const int64_t c = row / rows_.kernel_w, x = row % rows_.kernel_w;
          const int64_t filter = term / count * rows_.channels + c;
          return weight[filter * kernel_size() + kernel_rows[term % count] * rows_.kernel_w + x];
        });
    return {factors, offsets, terms};
  }

  const ConvParams& p_;
  const ShiftedRows rows_;
  Ctx& ctx_;
};

int64_t blocked_channels(int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; }

}  // namespace

bool suits_conv_small(const ConvParams& p) {
  if (p.groups != 1 || p.spatial() > 2) return false;
  const int64_t out = p.weight.sizes[0], in = p.weight.sizes[1];
  if (out > kMaxChannels || in > kMaxChannels) return false;
  const int64_t blocked = blocked_channels(out) * blocked_channels(in);
  if (5 * out * in > 3 * blocked) return false;  // oneDNN would use over 60 % of its lanes
  return ShiftedRows(p).has_at_most(kRowsBytes / int64_t(sizeof(float)));
}

void conv_small(const ConvParams& params, Ctx& ctx) { SmallConv(params, ctx).run(); }

}  // namespace hearth::cpu
