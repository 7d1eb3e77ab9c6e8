// The laws of this package: what each reads, and the exported function that computes its torques.
#pragma once
#include <array>
#include <cstddef>

#include "dynamics.hpp"
#include "references.hpp"
#include "torque_gate.hpp"

namespace @namespace@ {

@laws@

}  // namespace @namespace@
