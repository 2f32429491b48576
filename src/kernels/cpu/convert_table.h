#pragma once

// The conversions between dtypes, compiled for one instruction set. Included only by
// convert_@target@.cpp.in.

#include "kernels/cpu/convert.h"
#include "kernels/cpu/pointwise_table.h"

namespace hearth::cpu {

template <class Isa>
struct ConvertTableMaker {
  template <ScalarType from>
  static constexpr void add(ConvertTable& table) {
#define HEARTH_ADD_CONVERSION(type, Name) \
  if constexpr (from != ScalarType::Name) \
    table.convert[int(from)][int(ScalarType::Name)] = convert<from, ScalarType::Name, Isa>;
    HEARTH_DTYPES(HEARTH_ADD_CONVERSION)
#undef HEARTH_ADD_CONVERSION
  }
  static constexpr ConvertTable make() {
    ConvertTable table;
#define HEARTH_ADD_CONVERSIONS(type, Name) add<ScalarType::Name>(table);
    HEARTH_DTYPES(HEARTH_ADD_CONVERSIONS)
#undef HEARTH_ADD_CONVERSIONS
    return table;
  }
};

template <class Isa>
inline constexpr ConvertTable convert_table = ConvertTableMaker<Isa>::make();

}  // namespace hearth::cpu
