#pragma once

// Forward declarations of types that several headers use.
namespace hearth {

class Tensor;
class Scalar;
class DeprecatedTypeProperties;
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
