#pragma once

// LibTorch's namespaces over Hearth's. Inner namespaces are aliases, so that a name found through
// torch, at and c10 is one entity; the outer ones are real namespaces, so that programs can add
// declarations to them.
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
namespace special {}
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
namespace special = hearth::special;
}  // namespace torch
