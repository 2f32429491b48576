// The errors of indices out of range on the CPU. In PyTorch, their types and texts depend on the
// op.
#include "ops/index_errors.h"

#include <string_view>

#include "core/faults.h"

namespace hearth {

namespace {

/// An index that is out of range.
struct BadIndex {
  int64_t index, dim, size;
  const Tensor& self;
};

/// The text of core/faults.h, but not an IndexError.
[[noreturn]] void fail_element(const BadIndex& bad) {
  detail::fail<Error>("index ", bad.index, " is out of bounds for dimension ", bad.dim,
                      " with size ", bad.size);
}

[[noreturn]] void fail_in_self(const BadIndex& bad) {
  detail::fail<IndexError>("index out of range in self (index ", bad.index, ", dimension ", bad.dim,
                           " with size ", bad.size, ")");
}

/// PyTorch has kernels of their own for dimension 1 and for tensors of one dimension.
[[noreturn]] void fail_select(const BadIndex& bad) {
  if (bad.self.dim() > 1) {
    HEARTH_CHECK(bad.size > 0, "index_select(): self indexing axis dim should be positive");
    HEARTH_CHECK(bad.dim != 1, "INDICES element is out of DATA bounds, id=", bad.index,
                 " axis_dim=", bad.size);
  }
  fail_in_self(bad);
}

/// For the first and the last of several dimensions, PyTorch's index_add calls scatter_add.
[[noreturn]] void fail_add(const BadIndex& bad) {
  const int64_t dims = bad.self.dim();
  const bool scatters = dims > 1 && (bad.dim == 0 || bad.dim == dims - 1);
  if (scatters && bad.self.scalar_type() != kBool) fail_element(bad);
  fail_in_self(bad);
}

[[noreturn]] void fail_copy(const BadIndex& bad) {
  detail::fail<IndexError>("index_copy_(): index ", bad.index, " is out of bounds for dimension ",
                           bad.dim, " with size ", bad.size);
}

struct IndexErrorOf {
  std::string_view op;
  void (*fail)(const BadIndex& bad);
};
constexpr IndexErrorOf kErrors[] = {{"gather", fail_element},      {"scatter", fail_element},
                                    {"scatter_add", fail_element}, {"scatter_reduce", fail_element},
                                    {"index_select", fail_select}, {"embedding", fail_select},
                                    {"index_add", fail_add},       {"index_copy", fail_copy}};

}  // namespace

void throw_fault_of(const OpCall& call, FaultSlot& slot) {
  if (static_cast<Fault>(slot.fault) == Fault::kIndexOutOfRange)
    for (const IndexErrorOf& error : kErrors)
      if (error.op == call.op.info->name)
        error.fail({slot.values[0], slot.values[1], slot.values[2], call.inputs[0]});
  throw_fault(slot);
}

}  // namespace hearth
