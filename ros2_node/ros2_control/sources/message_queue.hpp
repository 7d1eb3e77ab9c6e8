// A queue between one thread that writes and one that reads. Neither waits, locks or allocates.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>

namespace @namespace@ {

template <class Message, std::size_t capacity>
class MessageQueue {
 public:
  // For the writer. False where the queue is full.
  bool push(const Message &message) noexcept {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    if (at - read_.load(std::memory_order_acquire) == capacity) return false;
    messages_[at % capacity] = message;
    written_.store(at + 1, std::memory_order_release);
    return true;
  }

  // For the reader. False where nothing is waiting.
  bool pop(Message &message) noexcept {
    const std::size_t at = read_.load(std::memory_order_relaxed);
    if (at == written_.load(std::memory_order_acquire)) return false;
    message = messages_[at % capacity];
    read_.store(at + 1, std::memory_order_release);
    return true;
  }

 private:
  std::array<Message, capacity> messages_{};
  std::atomic<std::size_t> written_{0}, read_{0};
};

}  // namespace @namespace@
