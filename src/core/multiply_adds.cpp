#include "core/multiply_adds.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace hearth {

namespace {

int64_t count_of(IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

int64_t last_of(IntArrayRef sizes) { return sizes.empty() ? 1 : sizes.back(); }

/// Counts the multiply-adds of one call.
class MultiplyAddCounter {
 public:
  explicit MultiplyAddCounter(const ObservedCall& call) : call_(call) {}

  int64_t count() const {
    const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), call_.op.info->name) != names.end();
    };
    if (call_.outputs.empty()) return 0;
    if (is_one_of({"linear"})) return output_numel() * last_of(input_sizes(1));
    if (is_one_of({"bilinear"})) return output_numel() * per_row(input_sizes(2));
    if (is_one_of({"conv_tbc"}))
      return output_numel() * count_of(input_sizes(1)) /
             std::max<int64_t>(1, last_of(input_sizes(1)));
    if (is_one_of({"conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d",
                   "conv_transpose2d", "conv_transpose3d"}))
      return convolution(output_numel());
    if (is_one_of({"convolution_backward"})) return convolution_backward();
    if (is_one_of({"matmul", "mm", "bmm", "mv", "dot"}))
      return output_numel() * last_of(input_sizes(0));
    if (is_one_of({"addmm", "baddbmm", "addmv"})) return output_numel() * last_of(input_sizes(1));
    if (is_one_of({"addbmm"})) return count_of(input_sizes(1)) * last_of(input_sizes(2));
    if (is_one_of({"scaled_dot_product_attention"})) return attention();
    if (is_one_of({"lstm", "lstm_cell"})) return recurrence(3);
    if (is_one_of({"gru", "rnn_tanh", "rnn_relu", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"}))
      return recurrence(2);
    return 0;
  }

 private:
  /// The sizes of an input; empty if it is absent.
  IntArrayRef input_sizes(int i) const {
    const bool exists = i < call_.inputs.count && call_.inputs[i].defined();
    return exists ? call_.inputs[i].sizes() : IntArrayRef();
  }
  int64_t output_numel() const { return call_.outputs[0].defined() ? call_.outputs[0].numel() : 0; }
  /// The elements of a weight for each index of its first dimension.
  static int64_t per_row(IntArrayRef weight) {
    return weight.empty() || weight[0] == 0 ? 0 : count_of(weight) / weight[0];
  }
  bool is_transposed() const {
    if (std::string_view(call_.op.info->name).starts_with("conv_transpose")) return true;
    for (const auto& [name, value] : call_.arguments())
      if (name == "transposed") return value == Argument(true);
    return false;
  }
  int64_t convolution(int64_t outputs) const {
    return (is_transposed() ? count_of(input_sizes(0)) : outputs) * per_row(input_sizes(1));
  }
  /// The gradients of input and weight each need as many multiply-adds as the forward call.
  int64_t convolution_backward() const {
    std::vector<int64_t> input, weight;
    for (const auto& [name, value] : call_.arguments()) {
      if (name == "input_sizes") input = std::get<std::vector<int64_t>>(value);
      if (name == "weight_sizes") weight = std::get<std::vector<int64_t>>(value);
    }
    int64_t gradients = 0;
    for (size_t i = 0; i < std::min<size_t>(call_.outputs.size(), 2); ++i)
      gradients += call_.outputs[i].defined();
    const int64_t outputs = is_transposed() ? count_of(input) : count_of(input_sizes(0));
    return gradients * outputs * per_row(weight);
  }
  int64_t attention() const {
    const IntArrayRef query = input_sizes(0), key = input_sizes(1), value = input_sizes(2);
    if (key.size() < 2 || last_of(query) == 0) return 0;
    const int64_t rows = count_of(query) / query.back();
    return rows * key[key.size() - 2] * (query.back() + last_of(value));
  }
  /// Each matrix is multiplied once for each step of each sequence.
  int64_t recurrence(int first_weight) const {
    const int64_t width = last_of(input_sizes(0));
    const int64_t steps = width == 0 ? 0 : count_of(input_sizes(0)) / width;
    int64_t weights = 0;
    for (int i = first_weight; i < call_.inputs.count; ++i)
      if (input_sizes(i).size() == 2) weights += count_of(input_sizes(i));
    return steps * weights;
  }

  const ObservedCall& call_;
};

}  // namespace

int64_t multiply_adds(const ObservedCall& call) { return MultiplyAddCounter(call).count(); }

int64_t flops(const ObservedCall& call) {
  if (call.outputs.empty()) return 0;  // the call failed
  const std::string_view name = call.op.info->name;
  if (name == "add" || name == "mul") return call.inputs[0].numel();
  return 2 * multiply_adds(call);
}

}  // namespace hearth
