// The guards around each law of this package: ramp, limits, and how commands end.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "@package@/guarded_law.hpp"
#include "@package@/laws.hpp"
#include "@package@/parameter_values.hpp"

namespace @package@ {

template <class Inputs>
void set_inputs(Inputs &inputs);

@settings@
template <class Law>
class Guards : public ::testing::Test {
 public:
  using Joints = typename GuardedLaw<Law>::Joints;

  Guards() {
    Law::describe(settings.gate, settings.reference);
    settings.gate.unlimited_effort = true;
    set_inputs(settings.inputs);
    law.configure(settings);
    for (std::size_t j = 0; j < Law::joint_count; ++j) {
      const double low = settings.gate.lower[j], high = settings.gate.upper[j];
      q[j] = std::isfinite(low) && std::isfinite(high) ? 0.5 * (low + high) + 0.1 * (high - low) : 0.3;
    }
  }

  // Cycles of 1 ms from `now` on. Returns the largest change of a command in a cycle.
  double run(int cycles) {
    double largest = 0.0;
    for (int k = 0; k < cycles; ++k) {
      const Joints before = last;
      now += 0.001;
      last = law.update(q, v, now);
      for (std::size_t j = 0; j < Law::joint_count; ++j) {
        largest = std::fmax(largest, std::fabs(last[j] - before[j]));
        EXPECT_TRUE(std::isfinite(last[j]));
        if (settings.gate.described_effort[j] > 0.0) {
          EXPECT_LE(std::fabs(last[j]), settings.gate.described_effort[j]);
        }
      }
    }
    return largest;
  }

  bool is_zero() const {
    for (const double each : last) {
      if (each != 0.0) return false;
    }
    return true;
  }

  LawSettings<Law> settings;
  GuardedLaw<Law> law;
  Joints q{}, v{}, zero{}, last{};
  double now = 0.0;
};

using Laws = ::testing::Types<@laws@>;
TYPED_TEST_SUITE(Guards, Laws);

TYPED_TEST(Guards, CommandsRampIn) {
  ASSERT_TRUE(this->law.activate(this->q, this->v, this->zero, this->now));
  double most = 1.0;
  for (const double each : this->settings.gate.described_effort) {
    if (std::isfinite(each)) most = std::fmax(most, each);
  }
  EXPECT_LE(this->run(1500), 0.01 * most);
  EXPECT_EQ(Phase::enabled, this->law.phase());
}

TYPED_TEST(Guards, AStateThatIsNotFiniteStartsTheStopSequence) {
  ASSERT_TRUE(this->law.activate(this->q, this->v, this->zero, this->now));
  this->run(1500);
  const auto before = this->last;
  this->q[0] = std::numeric_limits<double>::quiet_NaN();
  this->run(1);
  EXPECT_EQ(Phase::stopping_lost, this->law.phase());
  EXPECT_EQ(before, this->last);  // the ramp begins at the last command
  this->run(250);
  EXPECT_TRUE(this->is_zero());
  EXPECT_EQ(Phase::lost, this->law.phase());
}

TYPED_TEST(Guards, AGapStopsTheRobot) {
  ASSERT_TRUE(this->law.activate(this->q, this->v, this->zero, this->now));
  this->run(100);
  this->now += 1.0;
  this->run(1);
  EXPECT_EQ(Cause::state_too_old, this->law.cause());
}

TYPED_TEST(Guards, DeactivationEndsAtOnce) {
  ASSERT_TRUE(this->law.activate(this->q, this->v, this->zero, this->now));
  this->run(1500);
  this->last = this->law.deactivate(this->now);
  EXPECT_TRUE(this->is_zero());
  EXPECT_EQ(Phase::off, this->law.phase());
}

TYPED_TEST(Guards, HoldKeepsTheCommand) {
  this->settings.gate.stale_action = StopAction::hold;
  this->law.configure(this->settings);
  ASSERT_TRUE(this->law.activate(this->q, this->v, this->zero, this->now));
  this->run(1500);
  const auto before = this->last;
  EXPECT_EQ(before, this->law.deactivate(this->now));
}

}  // namespace @package@
