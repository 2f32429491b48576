#pragma once

#include "c10/namespaces.h"
#include "hearth/nn/pimpl.h"

#define TORCH_MODULE_IMPL(Name, ImplType) HEARTH_MODULE_IMPL(Name, ImplType)
#define TORCH_MODULE(Name) HEARTH_MODULE_IMPL(Name, Name##Impl)
