// Short names for PTX's number types.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emulated {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;
using u128 = unsigned __int128;
using s128 = __int128;

constexpr int LANES = 32;   // threads of a warp
using LaneMask = u32;       // a bit for each lane
constexpr LaneMask ALL_LANES = 0xffffffffu;

}  // namespace emulated
