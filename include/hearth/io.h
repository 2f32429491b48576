#pragma once

/// @file
/// Files: saving and loading, safetensors, checkpoints.
#include "hearth/io/archive.h"
#include "hearth/io/checkpoint.h"
#include "hearth/io/file.h"
#include "hearth/io/idx.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/serialize.h"
