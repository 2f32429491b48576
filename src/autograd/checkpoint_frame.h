#pragma once

#include <any>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "autograd/kept_results.h"
#include "autograd/saved_tensor.h"
#include "hearth/thread_state.h"

namespace hearth::utils::detail {

/// The states of the default generators of all devices.
class RandomStates {
 public:
  RandomStates();  ///< copies the current states
  void restore() const;
  size_t count() const { return states_.size(); }

 private:
  std::vector<Tensor> states_;
};

/// One call of a checkpointed function: its inputs, the modes of its thread, and notes of the
/// tensors that it saved for backward. Their values are computed by calling the function again,
/// once in each backward pass. A value is freed with the node that saved it, or when the next node
/// reads a value.
class CheckpointFrame : public std::enable_shared_from_this<CheckpointFrame> {
 public:
  using Function = CheckpointRegion::Function;
  CheckpointFrame(CheckpointOptions options, const std::vector<Tensor>& inputs, Function function);

  /// Called instead of saving a tensor; returns the argument for value_of().
  std::any note(const Tensor& tensor);
  /// The value of a noted tensor; calls the function again if this backward pass has not yet.
  Tensor value_of(const std::any& noted);
  void forward_completed() {
    forward_completed_ = true;
    if (kept_) kept_->forward_completed();
  }
  KeptResults* kept_results() { return kept_ ? &*kept_ : nullptr; }

 private:
  /// A value of the second computation, for one backward pass.
  struct Value {
    int64_t pass;
    Tensor tensor;
  };
  /// A node has this instead of a tensor that it saved.
  struct Holder {
    size_t index;  // of the note
    std::vector<Value> values;
  };
  /// The values that one node has read.
  struct Reads {
    int64_t pass = 0;
    const void* node = nullptr;
    std::vector<std::weak_ptr<Holder>> holders;
  };
  /// The metadata of a tensor that forward saved, which must be the same when it is computed again.
  struct Note {
    std::weak_ptr<Holder> holder;  // expires with the node that saved the tensor
    hearth::detail::Dims sizes;
    ScalarType dtype;
    Device device;
    int64_t version;
    const char* saved_by;  // an op, or null for a custom function
  };
  /// An argument of the function, and its version when the function was called.
  struct Input {
    autograd::SavedTensor saved;
    uint32_t version;
  };
  class Recomputation;

  static Note note_of(const Tensor& tensor);
  static bool agree(const Note& a, const Note& b);
  /// Throws if a tensor with this note is at another version than when it was saved.
  static void check_version(size_t index, const Note& note, int64_t version);
  static std::string text_of(const Note& note);
  static std::string list_of(const std::vector<Note>& notes);
  std::vector<Tensor> inputs() const;
  /// Calls the function again and stores the values for the pass.
  void recompute(int64_t pass);
  /// Throws unless the second computation saved tensors like those of forward.
  void check(const Recomputation& recomputation) const;
  /// The end of an error's text.
  std::string hint(const std::vector<Note>& recomputed) const;
  void forget(int64_t pass);  ///< frees the values of the pass
  /// Notes that the running node has read the holder's value. Frees the values that the previous
  /// node has read in this pass, because that node has finished.
  void was_read(const std::shared_ptr<Holder>& holder, int64_t pass);

  const CheckpointOptions options_;
  const Function function_;
  const ThreadLocalState state_;
  std::optional<RandomStates> random_;
  std::optional<KeptResults> kept_;
  std::vector<Input> inputs_;
  std::vector<Note> notes_;
  bool forward_completed_ = false;
  Reads last_reads_;
  int64_t next_outside_pass_ = -1;  // the number of the next read outside of a backward pass
  std::recursive_mutex mutex_;
};

}  // namespace hearth::utils::detail
