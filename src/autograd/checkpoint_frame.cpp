#include "autograd/checkpoint_frame.h"

#include <algorithm>
#include <string_view>

#include "autograd/engine.h"
#include "core/device_context.h"
#include "hearth/autocast.h"
#include "hearth/autograd_hooks.h"

namespace hearth::utils::detail {

namespace {

/// Thrown to end the second computation as soon as all values exist. It is not a std::exception,
/// which the function might catch.
struct StopRecomputation {
  const void* recomputation;
};

/// Default generator number i: the CPU's is 0, that of GPU i is i + 1.
const Generator& generator(int i) {
  return default_generator(i == 0 ? Device(DeviceType::CPU)
                                  : Device(DeviceType::CUDA, static_cast<DeviceIndex>(i - 1)));
}

/// Sets the random states `use`, if not null; on destruction, restores the previous ones.
class RandomGuard {
 public:
  explicit RandomGuard(const RandomStates* use) {
    if (!use) return;
    former_.emplace();
    use->restore();
  }
  ~RandomGuard() {
    if (former_) former_->restore();
  }
  RandomGuard(const RandomGuard&) = delete;
  RandomGuard& operator=(const RandomGuard&) = delete;

 private:
  std::optional<RandomStates> former_;
};

uint32_t version_of(const Tensor& tensor) {
  return tensor.defined() ? impl_of(tensor).version() : 0;
}

/// A region in which autocast's casts of weights are cached.
struct CastCacheRegion {
  CastCacheRegion() { autocast::increment_nesting(); }
  ~CastCacheRegion() {
    if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  }
  CastCacheRegion(const CastCacheRegion&) = delete;
  CastCacheRegion& operator=(const CastCacheRegion&) = delete;
};

}  // namespace

RandomStates::RandomStates() {
  for (int i = 0; i <= cuda_device_count(); ++i) states_.push_back(generator(i).get_state());
}

void RandomStates::restore() const {
  for (size_t i = 0; i < states_.size(); ++i) {
    Generator target = generator(static_cast<int>(i));
    target.set_state(states_[i]);
  }
}

/// The second computation of a frame's function, for one backward pass.
class CheckpointFrame::Recomputation {
 public:
  Recomputation(CheckpointFrame& frame, int64_t pass) : frame_(frame), pass_(pass) {}

  void run(const std::vector<Tensor>& inputs) {
    const ThreadLocalStateGuard modes_of_forward(frame_.state_);
    const CastCacheRegion region;
    const RandomGuard random(frame_.random_ ? &*frame_.random_ : nullptr);
    const AutoGradMode on(true);
    std::optional<ReusedResults> reused;
    if (frame_.kept_) reused.emplace(*frame_.kept_);
    const OpReuseGuard reuse(reused ? &*reused : nullptr);
    const autograd::SavedTensorHooks hooks(
        [this](const Tensor& tensor) { return on_save(tensor); },
        [](const std::any& tensor) { return std::any_cast<const Tensor&>(tensor); });
    try {
      frame_.function_(inputs);
    } catch (const StopRecomputation& stop) {
      if (stop.recomputation != this) throw;
    }
  }

  bool is_partial() const { return is_partial_; }
  const std::vector<Note>& recomputed() const { return recomputed_; }
  const std::string& mismatches() const { return mismatches_; }

 private:
  std::any on_save(const Tensor& tensor) {
    if (stopped_) throw StopRecomputation{this};  // the function has caught the first one
    const std::vector<Note>& notes = frame_.notes_;
    const size_t index = recomputed_.size();
    recomputed_.push_back(note_of(tensor));
    if (index >= notes.size()) {
      on_extra_tensor();
      return tensor;
    }
    if (frame_.options_.determinism_check() != "none") compare(index);
    if (const auto holder = notes[index].holder.lock()) holder->values.push_back({pass_, tensor});
    stopped_ = frame_.options_.early_stop() && recomputed_.size() == notes.size();
    if (stopped_) throw StopRecomputation{this};
    return tensor;
  }

  /// Called for a tensor that forward has not saved, at least not yet.
  void on_extra_tensor() {
    HEARTH_CHECK_AS(
        CheckpointError, !frame_.forward_completed_,
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
        "original forward pass.\n",
        frame_.hint(recomputed_));
    is_partial_ = true;
  }

  void compare(size_t index) {
    const Note &saved = frame_.notes_[index], &now = recomputed_[index];
    if (agree(saved, now)) return;
    mismatches_ +=
        hearth::detail::str("tensor at position ", index, ":\nsaved metadata: ", text_of(saved),
                            "\nrecomputed metadata: ", text_of(now), "\n");
    mismatches_ +=
        hearth::detail::str("saved by ", saved.saved_by ? saved.saved_by : "a custom function",
                            ", recomputed by ", now.saved_by ? now.saved_by : "a custom function");
    for (const Scope* scope = modes.scope; scope; scope = scope->outer)
      mismatches_ += hearth::detail::str(" in ", scope->name);
    mismatches_ += '\n';
  }

  CheckpointFrame& frame_;
  const int64_t pass_;
  std::vector<Note> recomputed_;
  std::string mismatches_;
  bool stopped_ = false;
  bool is_partial_ = false;  // backward was called inside the function, before its end
};

void CheckpointFrame::check_version(size_t index, const Note& note, int64_t version) {
  if (version == note.version) return;
  autograd::fail_modified(
      hearth::detail::str("the tensor at position ", index, " that ",
                          note.saved_by ? note.saved_by : "a custom function",
                          " saved in a function called by utils::checkpoint, ", text_of(note), ","),
      version, note.version,
      "A checkpointed function may not modify tensors that it has saved, and weights and other "
      "tensors that it reads may not be modified until backward has called it again.");
}

CheckpointFrame::CheckpointFrame(CheckpointOptions options, const std::vector<Tensor>& inputs,
                                 Function function)
    : options_(std::move(options)), function_(std::move(function)) {
  const std::string& check = options_.determinism_check();
  HEARTH_CHECK_AS(ValueError, check == "default" || check == "none",
                  "determinism_check should be one of ['default', 'none'], but got ", check);
  HEARTH_CHECK_AS(ValueError, !options_.debug() || !options_.selective(),
                  "debug=True is incompatible with non-default context_fn");
  if (options_.preserve_rng_state()) random_.emplace();
  if (options_.selective()) kept_.emplace(*options_.selective(), options_.preserve_rng_state());
  modes.saved_by = nullptr;
  inputs_.reserve(inputs.size());
  for (const Tensor& input : inputs) inputs_.push_back(Input{{input, false}, version_of(input)});
}

CheckpointFrame::Note CheckpointFrame::note_of(const Tensor& tensor) {
  return {
      {}, tensor.sizes(), tensor.scalar_type(), tensor.device(), tensor._version(), modes.saved_by};
}

bool CheckpointFrame::agree(const Note& a, const Note& b) {
  const auto name = [](const Note& note) { return note.saved_by ? note.saved_by : ""; };
  return IntArrayRef(a.sizes).equals(b.sizes) && a.dtype == b.dtype && a.device == b.device &&
         std::string_view(name(a)) == name(b);
}

std::string CheckpointFrame::text_of(const Note& note) {
  std::string device = hearth::detail::str("device(type='", note.device.type(), "'");
  if (note.device.has_index()) device += hearth::detail::str(", index=", int(note.device.index()));
  return hearth::detail::str("{'shape': torch.Size(", IntArrayRef(note.sizes), "), 'dtype': torch.",
                             python_name_of(note.dtype), ", 'device': ", device, ")}");
}

std::string CheckpointFrame::list_of(const std::vector<Note>& notes) {
  std::string list;
  for (size_t i = 0; i < notes.size(); ++i)
    list += hearth::detail::str("  ", i, ": ", notes[i].saved_by ? notes[i].saved_by : "(custom)",
                                " ", text_of(notes[i]), "\n");
  return list;
}

std::string CheckpointFrame::hint(const std::vector<Note>& recomputed) const {
  if (options_.debug())
    return hearth::detail::str("\nTensors saved during the original forward:\n", list_of(notes_),
                               "Tensors saved during recomputation:\n", list_of(recomputed));
  return "\nTip: To see a more detailed error message, pass CheckpointOptions().debug(true) to "
         "utils::checkpoint(...).";
}

std::any CheckpointFrame::note(const Tensor& tensor) {
  const auto holder = std::make_shared<Holder>(Holder{notes_.size(), {}});
  notes_.push_back(note_of(tensor));
  notes_.back().holder = holder;
  return holder;
}

std::vector<Tensor> CheckpointFrame::inputs() const {
  std::vector<Tensor> values;
  for (size_t i = 0; i < inputs_.size(); ++i) try {
      values.push_back(inputs_[i].saved.unpack(nullptr));
      // What a hook returns, for example for an outer checkpoint, has a counter of its own.
      if (version_of(values[i]) != inputs_[i].version)
        impl_of(values[i]).set_version(inputs_[i].version);
    } catch (hearth::Error& error) {
      error.append_line(hearth::detail::str(
          "input ", i,
          " of a function called by utils::checkpoint, which has to be called again "
          "with the same value; pass a clone() if it is modified in place"));
      throw;
    }
  return values;
}

Tensor CheckpointFrame::value_of(const std::any& noted) {
  const auto& shared = std::any_cast<const std::shared_ptr<Holder>&>(noted);
  Holder& holder = *shared;
  const std::lock_guard lock(mutex_);
  const int64_t running = autograd::current_graph_task_id();
  const int64_t pass = running >= 0 ? running : next_outside_pass_--;
  const auto find = [&] {
    return std::find_if(holder.values.begin(), holder.values.end(),
                        [&](const Value& value) { return value.pass == pass; });
  };
  if (find() == holder.values.end()) recompute(pass);
  const auto found = find();
  HEARTH_CHECK_AS(CheckpointError, found != holder.values.end(),
                  "torch.utils.checkpoint: the tensor at position ", holder.index,
                  " was not computed again");
  if (options_.determinism_check() != "none")
    check_version(holder.index, notes_[holder.index], found->tensor._version());
  const Tensor value = found->tensor;
  if (running < 0)
    forget(pass);
  else
    was_read(shared, pass);
  return value;
}

void CheckpointFrame::recompute(int64_t pass) {
  Recomputation recomputation(*this, pass);
  if (autograd::current_graph_task_id() >= 0)
    autograd::queue_callback([frame = weak_from_this(), pass] {
      if (const auto alive = frame.lock()) alive->forget(pass);
    });
  try {
    recomputation.run(inputs());
    check(recomputation);
  } catch (...) {
    forget(pass);
    throw;
  }
}

void CheckpointFrame::check(const Recomputation& recomputation) const {
  if (recomputation.is_partial()) return;
  HEARTH_CHECK_AS(CheckpointError, recomputation.recomputed().size() == notes_.size(),
                  "torch.utils.checkpoint: A different number of tensors was saved during the "
                  "original forward and recomputation.\nNumber of tensors saved during forward: ",
                  notes_.size(), "\nNumber of tensors saved during recomputation: ",
                  recomputation.recomputed().size(), ".\n", hint(recomputation.recomputed()));
  HEARTH_CHECK_AS(CheckpointError, recomputation.mismatches().empty(),
                  "torch.utils.checkpoint: Recomputed values for the following tensors have "
                  "different metadata than during the forward pass.\n",
                  recomputation.mismatches(), ".\n", hint(recomputation.recomputed()));
}

void CheckpointFrame::was_read(const std::shared_ptr<Holder>& holder, int64_t pass) {
  const void* const node = autograd::current_node();
  if (last_reads_.node != node || last_reads_.pass != pass) {
    if (last_reads_.pass == pass)
      for (const auto& read : last_reads_.holders)
        if (const auto other = read.lock())
          std::erase_if(other->values, [&](const Value& value) { return value.pass == pass; });
    last_reads_ = {pass, node, {}};
  }
  last_reads_.holders.push_back(holder);
}

void CheckpointFrame::forget(int64_t pass) {
  const std::lock_guard lock(mutex_);
  for (const Note& note : notes_)
    if (const auto holder = note.holder.lock())
      std::erase_if(holder->values, [&](const Value& value) { return value.pass == pass; });
}

}  // namespace hearth::utils::detail
