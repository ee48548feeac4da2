// Python's side of a long call: its signal handlers run now and then, its callbacks are called, and
// whatever they raise ends the call and reaches the caller.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "binding.hpp"
#include "hqmm/core/interruption.hpp"

namespace hqmm::python {

class Watch {
 public:
  /// To be asked from any thread; true once the call should end. Only the thread that made the call
  /// looks at Python's signals, and only every few hundredths of a second: taking the GIL may mean
  /// waiting for it.
  bool stop() {
    if (stopped_) return true;
    if (std::this_thread::get_id() != caller_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return false;
    next_look_ = now + kInterval;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) keep_python_error();
    return stopped_;
  }

  /// Calls back into Python; something true as the answer asks for an end of the call, or of a part
  /// of it where the caller looks at asked_to_end().
  template <typename... Args>
  void tell(const py::object& callback, Args&&... args) {
    if (callback.is_none() || stopped_) return;
    try {
      if (py::bool_(callback(std::forward<Args>(args)...))) asked_ = true;
    } catch (const py::error_already_set& error) {
      keep(error);
    }
  }

  /// Whether the callback has said so since this was last asked.
  bool asked_to_end() { return asked_.exchange(false); }

  /// With the GIL held, when the call is over.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

  /// For work that ends by itself, with a result, once stop() says so: takes a KeyboardInterrupt
  /// back. True if there was one; anything else is raised as ever.
  bool take_interrupt() {
    if (!interrupted_) return false;
    raised_ = nullptr;
    return true;
  }

  /// Runs library code without the GIL, wherever it stands when stop() says so: its loops look by
  /// themselves.
  template <typename Work>
  auto run_interruptible(Work work) {
    const std::function<bool()> asked = [this] { return stop(); };
    return run([&] {
      const InterruptionScope scope(&asked);
      return work();
    });
  }

  /// Runs library code without the GIL; what Python raised meanwhile comes first.
  template <typename Work>
  auto run(Work work) {
    auto out = run_to_end(work);
    rethrow();
    return out;
  }

  /// The same without a look at what was raised while there is a result.
  template <typename Work>
  auto run_to_end(Work work) {
    try {
      const py::gil_scoped_release nogil;
      return work();
    } catch (const Error&) {
      rethrow();
      throw;
    }
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{30};

  void keep_python_error() {
    try {
      throw py::error_already_set();
    } catch (const py::error_already_set& error) {
      keep(error);
    }
  }

  /// The exception being handled.
  void keep(const py::error_already_set& error) {
    interrupted_ = error.matches(PyExc_KeyboardInterrupt);
    raised_ = std::current_exception();
    stopped_ = true;
  }

  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_look_ = std::chrono::steady_clock::now() + kInterval;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> asked_ = false;
  bool interrupted_ = false;  // what was raised is a KeyboardInterrupt
  std::exception_ptr raised_;
};

}  // namespace hqmm::python
