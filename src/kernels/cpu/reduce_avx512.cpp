#include "kernels/cpu/reduce_loops.h"

namespace hearth::cpu {

namespace {
struct Avx512 {
  static constexpr int kBytes = 64;
};
}  // namespace

constexpr ReduceTable reduce_table_avx512 = make_reduce_table<Avx512>();

}  // namespace hearth::cpu
