#pragma once

#include "hearth/half.h"

using __nv_bfloat16 = hearth::BFloat16;
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return hearth::BFloat16::from_bits(bits);
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.x; }
inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }
