#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "hearth/dispatch_key.h"
#include "hearth/tensor.h"

// The operators that programs register with TORCH_LIBRARY (compat/torch/library.h). Hearth's own
// operators are plain functions and are not registered.
namespace hearth {

/// The name of an operator, such as "torchvision::nms", and of its overload, usually empty.
struct OperatorName {
  std::string name, overload_name;
  friend bool operator==(const OperatorName&, const OperatorName&) = default;
};
HEARTH_API std::string as_text(const OperatorName& name);  ///< "torchvision::nms.overload"

/// A function that computes an operator, without its type.
class HEARTH_API OperatorKernel {
 public:
  explicit OperatorKernel(const std::type_info& signature) : signature_(&signature) {}
  virtual ~OperatorKernel();
  const std::type_info& signature() const { return *signature_; }

 private:
  const std::type_info* signature_;
};

/// Ends a registration when its last copy is destroyed.
using OperatorRegistration = std::shared_ptr<void>;

/// A registered operator and its kernels. It exists until the program ends, also without kernels.
class HEARTH_API RegisteredOperator {
 public:
  RegisteredOperator(OperatorName name);
  ~RegisteredOperator();
  RegisteredOperator(const RegisteredOperator&) = delete;
  RegisteredOperator& operator=(const RegisteredOperator&) = delete;

  /// The operator of this name, or null.
  static RegisteredOperator* find(const OperatorName& name);
  static RegisteredOperator& get_or_add(const OperatorName& name);  ///< adds it if it is new
  static std::vector<OperatorName> names();                         ///< of all defined operators
  /// Declares a namespace, which may be done once.
  static OperatorRegistration reserve(const std::string& name_space, const std::string& origin);

  /// Declares the operator, which may be done once.
  OperatorRegistration define(const std::string& schema, const std::string& origin);
  /// Adds a kernel, which replaces a former one of the key; a null kernel is skipped by calls.
  OperatorRegistration add_kernel(DispatchKey key, std::shared_ptr<OperatorKernel> kernel,
                                  const std::string& origin);

  const OperatorName& name() const { return name_; }
  std::string schema() const;  ///< the text of define()
  bool is_defined() const;
  bool has_kernel(DispatchKey key) const;  ///< whether it has one of exactly this kind
  /// Throws if the operator has a kernel of another type.
  void check_signature(const std::type_info& signature) const;
  /// The kernel for the first of these keys that has one; throws if none has.
  std::shared_ptr<OperatorKernel> kernel_for(DispatchKeySet keys) const;

 private:
  struct Content;
  OperatorName name_;
  std::unique_ptr<Content> content_;
};

struct OperatorDeclaration;

/// The registrations of one TORCH_LIBRARY block; they end with the object.
class HEARTH_API OperatorLibrary {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };
  OperatorLibrary(Kind kind, std::string name_space, std::optional<DispatchKey> key,
                  const char* file, uint32_t line);
  /// Declares an operator by its schema, "name(Tensor x) -> Tensor", or by its name.
  OperatorName define(const std::string& schema, bool name_suffices);
  /// Adds a kernel for the key; without one, for the block's, or for all backends.
  void add_kernel(const std::string& name, std::optional<DispatchKey> key,
                  std::shared_ptr<OperatorKernel> kernel);
  void add_fallback(const std::shared_ptr<OperatorKernel>& kernel) const;  ///< null: no effect
  const std::string& name_space() const { return name_space_; }

 private:
  OperatorName full_name(const OperatorDeclaration& declaration) const;
  std::string place() const;

  Kind kind_;
  std::string name_space_, origin_;
  std::optional<DispatchKey> key_;
  std::vector<OperatorRegistration> registrations_;
};

/// Those keys of a call's tensors that this thread does not exclude.
HEARTH_API DispatchKeySet active_keys(DispatchKeySet of_tensors);

}  // namespace hearth
