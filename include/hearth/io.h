#pragma once

/// @file
/// Saving and loading: archives, checkpoints, and files of safetensors, PyTorch, NumPy and IDX.
#include "hearth/io/archive.h"
#include "hearth/io/checkpoint.h"
#include "hearth/io/file.h"
#include "hearth/io/idx.h"
#include "hearth/io/npy.h"
#include "hearth/io/pt.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/serialize.h"
#include "hearth/io/sharded.h"
#include "hearth/io/tensors.h"
