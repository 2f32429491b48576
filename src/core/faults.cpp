#include "core/faults.h"

#include "hearth/error.h"

namespace hearth {

using detail::fail;

void throw_fault(FaultSlot& slot) {
  const auto fault = static_cast<Fault>(slot.fault);
  const int64_t a = slot.values[0], b = slot.values[1], c = slot.values[2];
  std::atomic_ref<int32_t>(slot.fault).store(0, std::memory_order_release);
  switch (fault) {
    case Fault::kIndexOutOfRange:
      fail<IndexError>("index ", a, " is out of bounds for dimension ", b, " with size ", c);
    case Fault::kNegativeIndex:
      fail<IndexError>("index out of range: index ", a, " of dimension ", b, " with size ", c,
                       " must not be negative");
    case Fault::kBadLabel:
      fail<IndexError>("Target ", a, " is out of bounds. There are ", b, " classes.");
    case Fault::kBadProbability:
      fail<Error>("probability tensor contains either `inf`, `nan` or element < 0");
    case Fault::kBadBagIndex:
      fail<Error>("embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be ",
                  a);
    case Fault::kBadBagOffset:
      fail<Error>("embedding_bag: offsets must not fall or exceed the input's length ", b,
                  ", but found ", a);
    case Fault::kNoFault: break;
  }
  fail<Error>("a kernel reported an unknown fault: ", static_cast<int>(fault));
}

}  // namespace hearth
