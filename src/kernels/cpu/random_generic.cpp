// The loops of random numbers and of dropout (random_vectors.h), compiled for processors without
// AVX2.
#include "kernels/cpu/random_vectors.h"

namespace hearth::cpu {

namespace {
struct Generic {};
}  // namespace

constexpr RandomLoops random_loops_generic = make_random_loops<Generic>();

}  // namespace hearth::cpu
