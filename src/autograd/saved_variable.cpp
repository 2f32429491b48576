#include "hearth/autograd/saved_variable.h"

#include "autograd/saved_hooks.h"
#include "autograd/saved_tensor.h"

namespace hearth::autograd {

struct SavedVariable::Content {
  SavedTensor tensor;
  bool is_output = false, is_freed = false;
};

SavedVariable::SavedVariable() = default;
SavedVariable::SavedVariable(const Tensor& variable, bool is_output, bool) {
  if (!variable.defined()) return;
  const bool own = is_output && !variable.is_leaf();
  const auto number = static_cast<uint32_t>(own ? variable.output_nr() : 0);
  content_ = hearth::detail::OwnedPtr(new Content{SavedTensor(variable, own, number), own});
}
SavedVariable::SavedVariable(const std::optional<Tensor>& variable, bool is_output,
                             bool is_inplace_on_view)
    : SavedVariable(variable.value_or(Tensor()), is_output, is_inplace_on_view) {}
SavedVariable::SavedVariable(SavedVariable&& other) noexcept = default;
SavedVariable& SavedVariable::operator=(SavedVariable&& other) noexcept = default;
SavedVariable::~SavedVariable() = default;

Tensor SavedVariable::unpack(const NodePtr& saved_for) const {
  if (!content_) return {};
  HEARTH_CHECK(!content_->is_freed, ERR_BACKWARD_TWICE);
  HEARTH_CHECK(saved_for || !content_->is_output, "No grad_fn for non-leaf saved tensor");
  return content_->tensor.unpack(saved_for.get());
}

void SavedVariable::register_hooks(std::unique_ptr<SavedVariableHooks>&& hooks) {
  HEARTH_CHECK(hooks, "register_hooks: the hooks are null");
  HEARTH_CHECK(content_, "Calling register_hooks on a saved tensor with value None is forbidden");
  HEARTH_CHECK(!content_->tensor.has_hook(),
               "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
               "only one pair of hooks is allowed at a time.");
  HEARTH_CHECK(!content_->is_freed,
               "Calling register_hooks on a saved tensor after it has been freed. Saved "
               "intermediate values of the graph are freed when you call .backward() or "
               "autograd.grad(). Specify retain_graph=True if you need to backward through the "
               "graph a second time or if you need to access saved variables after calling "
               "backward.");
  const std::shared_ptr<SavedVariableHooks> shared(std::move(hooks));
  content_->tensor.set_hooks(IntrusivePtr<SavedHooks>::adopt(new SavedHooks(
      [shared](const Tensor& tensor) {
        shared->call_pack_hook(tensor);
        return std::any();
      },
      [shared](const std::any&) { return shared->call_unpack_hook(); })));
}

void SavedVariable::reset_data() {
  if (!content_) return;
  content_->tensor = SavedTensor();
  content_->is_freed = true;
}

bool SavedVariable::has_hooks() const { return content_ && content_->tensor.has_hook(); }

saved_variable_list make_saved_variable_list(const variable_list& tensors, bool is_output) {
  saved_variable_list saved;
  for (const Tensor& tensor : tensors) saved.emplace_back(tensor, is_output);
  return saved;
}

}  // namespace hearth::autograd
