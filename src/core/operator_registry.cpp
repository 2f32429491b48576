#include "hearth/operator_registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "core/modes.h"
#include "core/tensor_impl.h"
#include "hearth/libtorch_name.h"

namespace hearth {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::tuple<std::string, std::string>, std::unique_ptr<RegisteredOperator>> operators;
  std::map<std::string, std::string> namespaces;  // and where they were declared
};

Registry& registry() {
  static Registry& instance = *new Registry;  // libraries end their registrations at exit
  return instance;
}

/// A registration that calls `undo` under the registry's lock.
template <class Undo>
OperatorRegistration registration(Undo undo) {
  return OperatorRegistration(nullptr, [undo](void*) {
    const std::lock_guard lock(registry().mutex);
    undo();
  });
}

constexpr DispatchKeySet kBackends =
    DispatchKeySet::range(DispatchKey::CPU, DispatchKey::NestedTensorCUDA);

/// The backend whose gradients the key is for, or Undefined.
DispatchKey backend_of(DispatchKey key) {
  switch (key) {
    case DispatchKey::AutogradCPU: return DispatchKey::CPU;
    case DispatchKey::AutogradCUDA: return DispatchKey::CUDA;
    case DispatchKey::AutogradMeta: return DispatchKey::Meta;
    default: return DispatchKey::Undefined;
  }
}

}  // namespace

OperatorKernel::~OperatorKernel() = default;

std::string as_text(const OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + '.' + name.overload_name;
}

/// The kernels, of which the last one of a key is in effect; guarded by the registry's mutex.
struct RegisteredOperator::Content {
  struct Entry {
    DispatchKey key;
    std::shared_ptr<OperatorKernel> kernel;  // null: calls skip the key
    std::string origin;
  };
  std::vector<std::shared_ptr<Entry>> entries;
  std::string schema, origin;

  const Entry* find(DispatchKey key) const {
    const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                    [&](const auto& entry) { return entry->key == key; });
    return found == entries.rend() ? nullptr : found->get();
  }
  /// Any kernel of another type than this one.
  const Entry* mismatch(const std::type_info& signature) const {
    for (const auto& entry : entries)
      if (entry->kernel && entry->kernel->signature() != signature) return entry.get();
    return nullptr;
  }
  const Entry* find_for_all_backends() const {
    for (const DispatchKey key :
         {DispatchKey::CompositeExplicitAutogradNonFunctional,
          DispatchKey::CompositeExplicitAutograd, DispatchKey::CompositeImplicitAutograd})
      if (const Entry* entry = find(key)) return entry;
    return nullptr;
  }
  const Entry* find_for_gradients(DispatchKey key) const {
    if (const Entry* entry = find(DispatchKey::Autograd)) return entry;
    const bool has_backend = find(backend_of(key)) ||
                             find(DispatchKey::CompositeExplicitAutograd) ||
                             find(DispatchKey::CompositeExplicitAutogradNonFunctional);
    return has_backend ? nullptr : find(DispatchKey::CompositeImplicitAutograd);
  }
  /// The kernel for a key of a tensor, which may be one for several keys.
  const Entry* find_for(DispatchKey key) const {
    if (const Entry* entry = find(key)) return entry;
    if (kBackends.has(key)) return find_for_all_backends();
    return autograd_dispatch_keyset.has(key) ? find_for_gradients(key) : nullptr;
  }
  std::string keys_with_kernels() const {
    std::set<DispatchKey> keys;
    for (const auto& entry : entries) keys.insert(entry->key);
    std::string text;
    for (const DispatchKey key : keys) text.append(text.empty() ? "" : ", ") += toString(key);
    return text;
  }
};

RegisteredOperator::RegisteredOperator(OperatorName name)
    : name_(std::move(name)), content_(new Content) {}
RegisteredOperator::~RegisteredOperator() = default;

RegisteredOperator* RegisteredOperator::find(const OperatorName& name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().operators.find({name.name, name.overload_name});
  return found == registry().operators.end() ? nullptr : found->second.get();
}

RegisteredOperator& RegisteredOperator::get_or_add(const OperatorName& name) {
  const std::lock_guard lock(registry().mutex);
  auto& found = registry().operators[{name.name, name.overload_name}];
  if (!found) found = std::make_unique<RegisteredOperator>(name);
  return *found;
}

std::vector<OperatorName> RegisteredOperator::names() {
  const std::lock_guard lock(registry().mutex);
  std::vector<OperatorName> names;
  for (const auto& [name, op] : registry().operators)
    if (!op->content_->origin.empty()) names.push_back(op->name());
  return names;
}

OperatorRegistration RegisteredOperator::reserve(const std::string& name_space,
                                                 const std::string& origin) {
  const std::lock_guard lock(registry().mutex);
  const auto [found, is_new] = registry().namespaces.emplace(name_space, origin);
  HEARTH_CHECK(
      is_new, "Only a single TORCH_LIBRARY can be used to register the namespace ", name_space,
      "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying "
      "to specify implementations, consider using TORCH_LIBRARY_IMPL (which can be duplicated).  "
      "If you really intended to define operators for a single namespace in a distributed way, you "
      "can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous registration of "
      "TORCH_LIBRARY was ",
      found->second, "; latest registration was ", origin);
  return registration([name_space] { registry().namespaces.erase(name_space); });
}

OperatorRegistration RegisteredOperator::define(const std::string& schema,
                                                const std::string& origin) {
  const std::lock_guard lock(registry().mutex);
  HEARTH_CHECK(content_->origin.empty(), "Tried to register an operator (", schema,
               ") with the same name and overload name multiple times. Each overload's schema "
               "should only be registered with a single call to def(). Duplicate registration: ",
               origin, ". Original registration: ", content_->origin);
  content_->schema = schema;
  content_->origin = origin;
  return registration([content = content_.get()] { content->origin.clear(); });
}

OperatorRegistration RegisteredOperator::add_kernel(DispatchKey key,
                                                    std::shared_ptr<OperatorKernel> kernel,
                                                    const std::string& origin) {
  const std::lock_guard lock(registry().mutex);
  const auto* other = kernel ? content_->mismatch(kernel->signature()) : nullptr;
  HEARTH_CHECK(!other, "\nMismatch in kernel C++ signatures\n  operator: ", content_->schema,
               "\n    ", content_->origin,
               "\n  kernel 1: ", libtorch_name(other->kernel->signature()),
               "\n    dispatch key: ", other->key, "\n    ", other->origin,
               "\n  kernel 2: ", libtorch_name(kernel->signature()), "\n    dispatch key: ", key,
               "\n    ", origin, '\n');
  auto& entries = content_->entries;
  entries.push_back(std::make_shared<Content::Entry>(key, std::move(kernel), origin));
  return registration([&entries, entry = entries.back()] { std::erase(entries, entry); });
}

std::string RegisteredOperator::schema() const {
  const std::lock_guard lock(registry().mutex);
  return content_->schema;
}
bool RegisteredOperator::is_defined() const {
  const std::lock_guard lock(registry().mutex);
  return !content_->origin.empty();
}
bool RegisteredOperator::has_kernel(DispatchKey key) const {
  const std::lock_guard lock(registry().mutex);
  return content_->find(key) != nullptr;
}

void RegisteredOperator::check_signature(const std::type_info& signature) const {
  const std::lock_guard lock(registry().mutex);
  const Content::Entry* other = content_->mismatch(signature);
  HEARTH_CHECK(!other, "\nTried to access or call an operator with a wrong signature.\n",
               "  operator: ", content_->schema, "\n    ", content_->origin,
               "\n  correct signature:  ", libtorch_name(other->kernel->signature()), "\n    ",
               other->origin, "\n  accessed/called as: ", libtorch_name(signature),
               "\nThis likely happened in a call to OperatorHandle::typed<Return (Args...)>(). "
               "Please make sure that the function signature matches the signature in the operator "
               "registration call.");
}

std::shared_ptr<OperatorKernel> RegisteredOperator::kernel_for(DispatchKeySet keys) const {
  const std::lock_guard lock(registry().mutex);
  DispatchKey backend = DispatchKey::Undefined;
  for (DispatchKeySet left = keys; !left.empty();) {
    const DispatchKey key = left.highestPriorityTypeId();
    left = left.remove(key);
    const Content::Entry* entry = content_->find_for(key);
    if (entry && entry->kernel) return entry->kernel;
    if (kBackends.has(key) && !entry) {
      backend = key;
      break;
    }
  }
  const Content::Entry* entry = keys.empty() ? content_->find_for_all_backends() : nullptr;
  if (entry && entry->kernel) return entry->kernel;
  HEARTH_CHECK_AS(NotImplementedError, !(keys & kBackends).empty(),
                  "There were no tensor arguments to this function (e.g., you passed an empty list "
                  "of Tensors), but no fallback function is registered for schema ",
                  as_text(name_),
                  ".  This usually means that this function requires a non-empty list of Tensors, "
                  "or that you (the operator writer) forgot to register a fallback function.  "
                  "Available functions are [",
                  content_->keys_with_kernels(), "].");
  HEARTH_CHECK_AS(NotImplementedError, backend != DispatchKey::Meta, as_text(name_),
                  ": attempted to run this operator with Meta tensors, but there was no fake impl "
                  "or Meta kernel registered.");
  detail::fail<NotImplementedError>(
      "Could not run '", as_text(name_), "' with arguments from the '", backend,
      "' backend. This could be because the operator doesn't exist for this backend, or was "
      "omitted during the selective/custom build process (if using custom build). '",
      as_text(name_), "' is only available for these backends: [", content_->keys_with_kernels(),
      "].");
}

DispatchKeySet active_keys(DispatchKeySet of_tensors) {
  DispatchKeySet inactive = modes.excluded_keys;
  if (!(modes.flags & kAutocastCpu)) inactive = inactive.add(DispatchKey::AutocastCPU);
  if (!(modes.flags & kAutocastCuda)) inactive = inactive.add(DispatchKey::AutocastCUDA);
  if (modes.flags & kInferenceMode)
    inactive = inactive | autograd_dispatch_keyset_with_ADInplaceOrView;
  return of_tensors - inactive;
}

DispatchKeySet Tensor::key_set() const {
  if (!defined()) return {};
  struct Keys {
    DispatchKey backend, gradients, autocast;
  };
  const auto [backend, gradients, autocast] =
      is_cpu()    ? Keys{DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::AutocastCPU}
      : is_cuda() ? Keys{DispatchKey::CUDA, DispatchKey::AutogradCUDA, DispatchKey::AutocastCUDA}
                  : Keys{DispatchKey::Meta, DispatchKey::AutogradMeta, DispatchKey::Undefined};
  if (is_inference()) return DispatchKeySet({backend, autocast});
  return DispatchKeySet({backend, DispatchKey::ADInplaceOrView, gradients, autocast});
}

}  // namespace hearth
