#pragma once

/// Forward declarations of the names that cross headers.
namespace hearth {

class Tensor;
class Scalar;
class Storage;
class Generator;
class TensorOptions;
struct Device;
template <class T>
class ArrayRef;

namespace autograd {
class Node;
}
namespace cuda {
class Stream;
}
namespace indexing {
struct TensorIndex;
}

}  // namespace hearth
