#pragma once

#include "distributed/communicator.h"
#include "distributed/staged_tensor.h"

namespace hearth::distributed {

/// The state of a new call. `same` is the tensor whose dtype and, unless the caller clears
/// has_equal_sizes, sizes are equal on all ranks.
Communicator::StatePtr new_work(OpType type, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& outputs, const Tensor& same);

/// The only tensor of a list; throws unless the list has exactly one.
const Tensor& only(const std::vector<Tensor>& tensors, OpType type);
/// Throws unless the tensor can be communicated.
void check_tensor(const Tensor& tensor, OpType type);
/// Throws if elements of the tensor share memory (an expanded tensor), so that it cannot be
/// written.
void check_writable(const Tensor& tensor);
/// Throws unless the reduction exists for the tensor's dtype, also in the group's backend.
void check_reduction(Communicator& group, const Tensor& tensor, ReduceOp op, OpType type);
/// Throws unless the list has `count` tensors with the dtype and the sizes of `like`.
void check_list(const std::vector<Tensor>& tensors, int count, const Tensor& like, OpType type);
void check_rank(int64_t rank, int size, OpType type);

/// The way in which a backend reduces a tensor: complex numbers are pairs of real ones. A backend
/// without AVG adds, and the result is divided; float16, whose sum may overflow, is divided before.
struct Reduction {
  Reduction(const Tensor& tensor, ReduceOp wanted, const Backend& backend, int ranks);
  bool changes_input() const { return divides && dtype == kHalf; }
  /// Prepares the backend's input.
  void begin(const Tensor& input) const;
  /// Completes the backend's result.
  void finish(const Tensor& result) const;

  ScalarType dtype;
  int64_t count;
  ReduceOp op;
  bool divides;
  int size;
};

}  // namespace hearth::distributed
