#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "hearth/export.h"
#include "hearth/fwd.h"

namespace hearth {

// The kinds of kernels that an operator can have (operator_registry.h), the first to run last.
// Hearth has tensors for CPU, CUDA and Meta; code for other backends can register kernels, which
// are never called.
#define HEARTH_DISPATCH_KEYS(X) \
  X(Undefined)                  \
  X(CPU)                        \
  X(CUDA)                       \
  X(HIP)                        \
  X(XLA)                        \
  X(MPS)                        \
  X(XPU)                        \
  X(HPU)                        \
  X(MTIA)                       \
  X(PrivateUse1)                \
  X(Meta)                       \
  X(QuantizedCPU)               \
  X(QuantizedCUDA)              \
  X(MkldnnCPU)                  \
  X(SparseCPU)                  \
  X(SparseCUDA)                 \
  X(SparseCsrCPU)               \
  X(SparseCsrCUDA)              \
  X(NestedTensorCPU)            \
  X(NestedTensorCUDA)           \
  X(BackendSelect)              \
  X(Python)                     \
  X(Functionalize)              \
  X(Conjugate)                  \
  X(Negative)                   \
  X(ZeroTensor)                 \
  X(ADInplaceOrView)            \
  X(AutogradOther)              \
  X(AutogradCPU)                \
  X(AutogradCUDA)               \
  X(AutogradHIP)                \
  X(AutogradXLA)                \
  X(AutogradMPS)                \
  X(AutogradXPU)                \
  X(AutogradHPU)                \
  X(AutogradMTIA)               \
  X(AutogradPrivateUse1)        \
  X(AutogradMeta)               \
  X(Tracer)                     \
  X(AutocastCPU)                \
  X(AutocastXPU)                \
  X(AutocastHPU)                \
  X(AutocastMPS)                \
  X(AutocastCUDA)               \
  X(AutocastPrivateUse1)        \
  X(FuncTorchBatched)           \
  X(Autograd)                   \
  X(CompositeImplicitAutograd)  \
  X(CompositeExplicitAutograd)  \
  X(CompositeExplicitAutogradNonFunctional)

/// A kind of kernel: of a backend, for gradients or for autocast of a backend, or for several
/// backends (the last four).
enum class DispatchKey : uint8_t {
#define HEARTH_ENUMERATOR(name) name,
  HEARTH_DISPATCH_KEYS(HEARTH_ENUMERATOR)
#undef HEARTH_ENUMERATOR
      CatchAll = Undefined,
  Autocast = AutocastCUDA,
  DefaultBackend = CompositeExplicitAutograd,
};
HEARTH_API const char* toString(DispatchKey key);  ///< "AutogradCPU"
inline std::string as_text(DispatchKey key) { return toString(key); }

/// A set of kinds of kernels.
class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(DispatchKey key) : bits_(bit(key)) {}
  constexpr explicit DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey key : keys) bits_ |= bit(key);
  }
  /// The keys from `first` to `last`.
  static constexpr DispatchKeySet range(DispatchKey first, DispatchKey last) {
    return DispatchKeySet((bit(last) << 1) - bit(first));
  }

  constexpr bool has(DispatchKey key) const { return (bits_ & bit(key)) != 0; }
  constexpr bool has_any(DispatchKeySet keys) const { return (bits_ & keys.bits_) != 0; }
  constexpr bool has_all(DispatchKeySet keys) const { return (keys - *this).empty(); }
  constexpr bool isSupersetOf(DispatchKeySet keys) const { return has_all(keys); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t raw_repr() const { return bits_; }
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKey key) const {
    return DispatchKeySet(bits_ | bit(key));
  }
  [[nodiscard]] constexpr DispatchKeySet remove(DispatchKey key) const {
    return DispatchKeySet(bits_ & ~bit(key));
  }
  /// The key whose kernel runs first; Undefined for an empty set.
  constexpr DispatchKey highestPriorityTypeId() const {
    return empty() ? DispatchKey::Undefined : DispatchKey(63 - __builtin_clzll(bits_));
  }
  friend constexpr DispatchKeySet operator|(DispatchKeySet a, DispatchKeySet b) {
    return DispatchKeySet(a.bits_ | b.bits_);
  }
  friend constexpr DispatchKeySet operator&(DispatchKeySet a, DispatchKeySet b) {
    return DispatchKeySet(a.bits_ & b.bits_);
  }
  friend constexpr DispatchKeySet operator-(DispatchKeySet a, DispatchKeySet b) {
    return DispatchKeySet(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(DispatchKeySet a, DispatchKeySet b) = default;

 private:
  constexpr explicit DispatchKeySet(uint64_t bits) : bits_(bits) {}
  static constexpr uint64_t bit(DispatchKey key) {
    return key == DispatchKey::Undefined ? 0 : uint64_t(1) << uint8_t(key);
  }

  uint64_t bits_ = 0;
};
HEARTH_API std::string as_text(DispatchKeySet keys);  ///< "DispatchKeySet(CPU, AutogradCPU)"

inline constexpr DispatchKeySet autograd_dispatch_keyset =
    DispatchKeySet::range(DispatchKey::AutogradOther, DispatchKey::AutogradMeta);
inline constexpr DispatchKeySet autograd_dispatch_keyset_with_ADInplaceOrView =
    autograd_dispatch_keyset.add(DispatchKey::ADInplaceOrView);
inline constexpr DispatchKeySet autocast_dispatch_keyset =
    DispatchKeySet::range(DispatchKey::AutocastCPU, DispatchKey::AutocastPrivateUse1);
/// The keys that run after those of autograd.
inline constexpr DispatchKeySet after_autograd_keyset =
    DispatchKeySet::range(DispatchKey::CPU, DispatchKey::ADInplaceOrView);
/// The keys that run after ADInplaceOrView.
inline constexpr DispatchKeySet after_ADInplaceOrView_keyset =
    DispatchKeySet::range(DispatchKey::CPU, DispatchKey::ZeroTensor);

namespace impl {

/// During its lifetime, operators of this thread skip kernels of these kinds. Without the keys of
/// autograd, Hearth's own ops record nothing; without those of autocast, they do not cast.
class HEARTH_API ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys);
  explicit ExcludeDispatchKeyGuard(DispatchKey key)
      : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~ExcludeDispatchKeyGuard();
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet former_;
  uint32_t former_flags_;
};

HEARTH_API bool tls_is_dispatch_key_excluded(DispatchKey key);  ///< whether a guard excludes it
HEARTH_API bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys);  ///< whether all are excluded

}  // namespace impl

}  // namespace hearth
