#include "kernels/cpu/reduce_loops.h"

namespace hearth::cpu {

namespace {
struct Avx2 {
  static constexpr int kBytes = 32;
};
}  // namespace

constexpr ReduceTable reduce_table_avx2 = make_reduce_table<Avx2>();

}  // namespace hearth::cpu
