"""The queue between a callback and the control loop: order, capacity, and freedom from races."""

from __future__ import annotations

import subprocess
from pathlib import Path

from exported_code import WARNINGS, compiler

from ros2_node.ros2_control.source_files import source_file

PROGRAM = r"""
#include <cstdio>
#include <thread>
#include "message_queue.hpp"
struct Message { long number = -1, copy = -1; };
int main() {
  queue_test::MessageQueue<Message, 4> queue;
  Message message;
  int failures = queue.pop(message);
  for (long k = 0; k < 4; ++k) failures += !queue.push({k, k});
  failures += queue.push({4, 4});
  for (long k = 0; k < 4; ++k) failures += !queue.pop(message) || message.number != k;
  failures += queue.pop(message);
  constexpr long count = 20000;
  std::thread writer([&queue] {
    for (long k = 0; k < count; ++k) {
      while (!queue.push({k, k})) std::this_thread::yield();
    }
  });
  for (long k = 0; k < count; ++k) {
    while (!queue.pop(message)) std::this_thread::yield();
    failures += message.number != k || message.copy != k;
  }
  writer.join();
  std::printf("%d failures\n", failures);
  return failures;
}
"""


def test_messages_arrive_whole_and_in_order(tmp_path: Path) -> None:
    """The program runs with the thread sanitizer."""
    (tmp_path / "message_queue.hpp").write_text(
        source_file("message_queue.hpp", namespace="queue_test")
    )
    (tmp_path / "queue.cpp").write_text(PROGRAM)
    command = [compiler("c++", 0), "-std=c++17", *WARNINGS, "-O1", "-fsanitize=thread", "-pthread"]
    command += ["queue.cpp", "-o", "queue"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:2000]
    done = subprocess.run(["./queue"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "0 failures\n" and not done.stderr, done.stderr[:2000]
