#pragma once

/// Marks classes and functions that the core library exports; all others are hidden.
#define HEARTH_API __attribute__((visibility("default")))
