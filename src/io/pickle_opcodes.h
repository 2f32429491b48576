#pragma once

#include <cstdint>

/// The instructions of Python's pickles that Hearth reads; it writes only those of protocol 2.
namespace hearth::io::pickle {

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kNone = 'N',
  kTrue = 0x88,
  kFalse = 0x89,
  kInt1 = 'K',
  kInt2 = 'M',
  kInt4 = 'J',
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kFloat8 = 'G',
  kString1 = 'U',
  kString4 = 'T',
  kUnicode1 = 0x8c,
  kUnicode4 = 'X',
  kUnicode8 = 0x8d,
  kGet1 = 'h',
  kGet4 = 'j',
  kPut1 = 'q',
  kPut4 = 'r',
  kMemoize = 0x94,
  kProtocol = 0x80,
  kFrame = 0x95,
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kAppend = 'a',
  kAppends = 'e',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kNewObject = 0x81,
  kBuild = 'b',
  kPersistentId = 'Q',
};

}  // namespace hearth::io::pickle
