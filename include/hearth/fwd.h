#pragma once

// Forward declarations of types that several headers use.
namespace hearth {

class Tensor;
class Scalar;
class DeprecatedTypeProperties;
class DispatchKeySet;
class SymInt;
class Storage;
class Generator;
class TensorOptions;
struct Device;
template <class T>
class ArrayRef;
template <class T>
class MaybeOwned;

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
