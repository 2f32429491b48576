#pragma once

/// Marks what the core library exports; everything else is hidden.
#define HEARTH_API __attribute__((visibility("default")))
