#include "core/multiply_adds.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "seam/recurrence.h"

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
    if (is_one_of({"linear"})) return output_numel() * last_of(sizes_of(1));
    if (is_one_of({"bilinear"})) return output_numel() * per_row(sizes_of(2));
    if (is_one_of({"conv_tbc"}))
      return output_numel() * count_of(sizes_of(1)) / std::max<int64_t>(1, last_of(sizes_of(1)));
    if (is_one_of({"conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d",
                   "conv_transpose2d", "conv_transpose3d"}))
      return convolution(output_numel());
    if (is_one_of({"convolution_backward"})) return convolution_backward();
    if (is_one_of({"matmul", "mm", "bmm", "mv", "dot"}))
      return output_numel() * last_of(sizes_of(0));
    if (is_one_of({"addmm", "baddbmm", "addmv"})) return output_numel() * last_of(sizes_of(1));
    if (is_one_of({"addbmm"})) return count_of(sizes_of(1)) * last_of(sizes_of(2));
    if (is_one_of({"scaled_dot_product_attention"})) return attention();
    if (is_one_of({"_scaled_dot_product_attention_backward"})) return attention_backward();
    if (is_one_of({"lstm", "lstm_cell"})) return recurrence(3);
    if (is_one_of({"gru", "rnn_tanh", "rnn_relu", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"}))
      return recurrence(2);
    if (is_one_of({"_recurrent_layer_backward"})) return recurrent_layer_backward();
    if (is_one_of({"_recurrent_net_backward"})) return recurrent_net_backward();
    return 0;
  }

 private:
  /// The sizes of an input; empty if it is absent.
  IntArrayRef sizes_of(int i) const {
    const bool exists = i < call_.inputs.count && call_.inputs[i].defined();
    return exists ? call_.inputs[i].sizes() : IntArrayRef();
  }
  bool has_output(int i) const {
    return size_t(i) < call_.outputs.size() && call_.outputs[size_t(i)].defined();
  }
  template <class T>
  T argument(std::string_view wanted) const {
    for (const auto& [name, value] : call_.arguments())
      if (name == wanted) return std::get<T>(value);
    throw Error(detail::str(call_.op.info->name, " has no argument '", wanted, "'"));
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
    return (is_transposed() ? count_of(sizes_of(0)) : outputs) * per_row(sizes_of(1));
  }
  /// The gradients of input and weight each need as many multiply-adds as the forward call.
  int64_t convolution_backward() const {
    const auto input = argument<std::vector<int64_t>>("input_sizes");
    const auto weight = argument<std::vector<int64_t>>("weight_sizes");
    const IntArrayRef output = sizes_of(0);  // of the output's gradient
    const int64_t gradients = has_output(0) + has_output(1);
    return gradients * count_of(is_transposed() ? IntArrayRef(input) : output) * per_row(weight);
  }
  /// The rows of input 0, a matrix or a batch of matrices.
  int64_t num_rows() const {
    const int64_t width = last_of(sizes_of(0));
    return width == 0 ? 0 : count_of(sizes_of(0)) / width;
  }
  int64_t num_scores() const {
    const IntArrayRef key = sizes_of(1);
    return key.size() < 2 ? 0 : num_rows() * key[key.size() - 2];
  }
  int64_t attention() const { return num_scores() * (last_of(sizes_of(0)) + last_of(sizes_of(2))); }
  /// Computes the scores again; for query and key the gradient of the scores; then the requested
  /// gradients of query, key and value.
  int64_t attention_backward() const {
    const int64_t width = last_of(sizes_of(0)), value_width = last_of(sizes_of(2));
    const int64_t of_query = has_output(0), of_key = has_output(1), of_value = has_output(2);
    return num_scores() *
           (width * (1 + of_query + of_key) + value_width * ((of_query | of_key) + of_value));
  }
  /// The elements of an input that is a matrix; 0 if it is absent.
  int64_t matrix(int i) const { return sizes_of(i).size() == 2 ? count_of(sizes_of(i)) : 0; }
  /// Each matrix is multiplied once for each step of each sequence.
  int64_t recurrence(int first_weight) const {
    int64_t weights = 0;
    for (int i = first_weight; i < call_.inputs.count; ++i) weights += matrix(i);
    return num_rows() * weights;
  }
  /// Each step multiplies by the weights of the state; the other products are the wanted gradients.
  int64_t recurrent_layer_backward() const {
    constexpr int kInput = 0, kInputWeight = 3, kStateWeight = 4, kProjection = 7;
    int64_t weights = matrix(kStateWeight) + matrix(kProjection);
    if (has_output(kInput)) weights += matrix(kInputWeight);
    for (const int i : {kInputWeight, kStateWeight, kProjection})
      if (has_output(i)) weights += matrix(i);
    return num_rows() * weights;
  }
  /// cuDNN, which computes this op, always computes the gradients of the input and the states. The
  /// inputs are input, h0, c0 and one vector of all weights and biases.
  int64_t recurrent_net_backward() const {
    constexpr int kH0 = 1, kWeights = 3;
    const auto mode = static_cast<RecurrenceMode>(argument<int64_t>("mode"));
    const int64_t layers = sizes_of(kH0)[0];  // two for a layer of two directions
    const int64_t biases = 2 * gates_of(mode) * argument<int64_t>("hidden") * layers;
    const int64_t weights =
        count_of(sizes_of(kWeights)) - (argument<bool>("has_biases") ? biases : 0);
    return num_rows() * weights * (1 + has_output(kWeights));
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
