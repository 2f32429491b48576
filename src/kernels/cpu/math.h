#pragma once

// The mathematical functions of functors (HEARTH_VALUE_UNARY and _BINARY) over Vec, each written
// once for f32 and f64.

#include "kernels/cpu/math_erf.h"
#include "kernels/cpu/math_exp.h"
#include "kernels/cpu/math_log.h"
#include "kernels/cpu/math_normal.h"
#include "kernels/cpu/math_pow.h"
#include "kernels/cpu/math_simple.h"
#include "kernels/cpu/math_trig.h"
