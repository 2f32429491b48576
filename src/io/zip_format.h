#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The signatures and lengths of the records of zip archives, and values of their fields.
namespace hearth::io::zip {

inline constexpr std::string_view kLocal = "PK\3\4", kCentral = "PK\1\2", kEnd = "PK\5\6",
                                  kEnd64 = "PK\6\6", kLocator64 = "PK\6\7";
inline constexpr uint64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                          kLocator64Bytes = 20, kExtraHeadBytes = 4;
inline constexpr uint64_t kMaxCommentBytes = 0xffff;
inline constexpr uint64_t kIn64 = 0xffffffff;  // a 32-bit field whose value is in the 64-bit extra
inline constexpr uint64_t kCountIn64 = 0xffff;
inline constexpr uint16_t kExtra64 = 1;                // id of the extra field with 64-bit values
inline constexpr uint16_t kExtraPadding = 0x4246;      // "FB", as PyTorch writes for alignment
inline constexpr uint16_t kStored = 0, kDeflated = 8;  // methods
inline constexpr uint16_t kEncrypted = 1, kUtf8 = 0x800;   // flags
inline constexpr uint16_t kVersion = 20, kVersion64 = 45;  // needed to extract

}  // namespace hearth::io::zip
