#include "kernels/cpu/reduce_loops.h"

namespace hearth::cpu {

namespace {
struct Generic {
  static constexpr int kBytes = 16;
};
}  // namespace

constexpr ReduceTable reduce_table_generic = make_reduce_table<Generic>();

}  // namespace hearth::cpu
