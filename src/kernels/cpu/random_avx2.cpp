// The loops of random numbers and of dropout (random_vectors.h), compiled for AVX2.
#include "kernels/cpu/random_vectors.h"

namespace hearth::cpu {

namespace {
struct Avx2 {};
}  // namespace

constexpr RandomLoops random_loops_avx2 = make_random_loops<Avx2>();

}  // namespace hearth::cpu
