#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/owned_ptr.h"

namespace hearth::autograd {

/// The error of a second backward pass through freed tensors.
HEARTH_API extern const char* const ERR_BACKWARD_TWICE;

/// Hooks of one saved tensor: the first function is called once with the tensor to keep, the second
/// one returns it.
struct SavedVariableHooks {
  SavedVariableHooks() = default;
  SavedVariableHooks(const SavedVariableHooks&) = delete;
  SavedVariableHooks& operator=(const SavedVariableHooks&) = delete;
  virtual ~SavedVariableHooks() = default;
  virtual void call_pack_hook(const Tensor& tensor) = 0;
  virtual Tensor call_unpack_hook() = 0;
};

/// A tensor that a program's node saves for backward. unpack() throws if the memory was modified in
/// place since.
class HEARTH_API SavedVariable {
 public:
  SavedVariable();
  /// `is_output`: whether the tensor is an output of the node that saves it, already connected by
  /// set_history(); the node must not own it. The last argument is LibTorch's.
  SavedVariable(const Tensor& variable, bool is_output, bool is_inplace_on_view = false);
  SavedVariable(const std::optional<Tensor>& variable, bool is_output,
                bool is_inplace_on_view = false);
  SavedVariable(SavedVariable&& other) noexcept;
  SavedVariable& operator=(SavedVariable&& other) noexcept;
  ~SavedVariable();

  /// The tensor, undefined if an undefined one was saved. `saved_for` is the node that saved it; an
  /// output needs it.
  Tensor unpack(const NodePtr& saved_for = nullptr) const;
  /// Replaces the tensor by what the hooks keep.
  void register_hooks(std::unique_ptr<SavedVariableHooks>&& hooks);
  void reset_data();  ///< frees the tensor; unpack() throws from now on
  bool has_hooks() const;

 private:
  struct Content;
  hearth::detail::OwnedPtr<Content> content_;
};
using saved_variable_list = std::vector<SavedVariable>;  ///< tensors that a node saves

/// The tensors as SavedVariables.
HEARTH_API saved_variable_list make_saved_variable_list(const variable_list& tensors,
                                                        bool is_output = false);

}  // namespace hearth::autograd
