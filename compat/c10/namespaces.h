#pragma once

// LibTorch's namespaces over Hearth's. Inner namespaces are aliases, so that a name reached through
// torch, at and c10 at once is still one name; the outer ones stay open for programs to add to.
namespace hearth {
namespace Reduction {}
namespace autocast {}
namespace autograd {}
namespace cuda {}
namespace data {}
namespace enumtype {}
namespace indexing {}
namespace nn {}
namespace optim {}
namespace serialize {}
}  // namespace hearth

namespace c10 {
using namespace hearth;
namespace cuda = hearth::cuda;
}  // namespace c10

namespace at {
using namespace hearth;
namespace Reduction = hearth::Reduction;
namespace autocast = hearth::autocast;
namespace cuda = hearth::cuda;
namespace indexing = hearth::indexing;
}  // namespace at

namespace torch {
using namespace hearth;
namespace Reduction = hearth::Reduction;
namespace autocast = hearth::autocast;
namespace autograd = hearth::autograd;
namespace cuda = hearth::cuda;
namespace data = hearth::data;
namespace enumtype = hearth::enumtype;
namespace indexing = hearth::indexing;
namespace nn = hearth::nn;
namespace optim = hearth::optim;
namespace serialize = hearth::serialize;
}  // namespace torch
