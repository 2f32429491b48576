#pragma once

#include "hearth/half.h"

using __half = hearth::Half;
inline __half __ushort_as_half(unsigned short bits) { return hearth::Half::from_bits(bits); }
inline unsigned short __half_as_ushort(__half value) { return value.x; }
inline float __half2float(__half value) { return value; }
inline __half __float2half_rn(float value) { return value; }
