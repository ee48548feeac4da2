// hqmm train --live: the page of a run, served to this machine while it trains.
#pragma once

#include <memory>
#include <string>

#include "support/internals.hpp"

namespace hqmm::cli {

/// Throws kUsage, saying what is missing, when this build cannot serve pages.
void require_live_pages();

/// A server on 127.0.0.1 that answers GET of the page, of its document and of its events, to nobody
/// but those who ask for it by that name. It only reads the run's folder.
class LivePage {
 public:
  /// Port 0 is any free one. Throws kUsage when the port is not available.
  LivePage(const std::string& run_path, int port);
  /// Sends the result of the training to all who are watching, and ends.
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  [[nodiscard]] std::string address() const;
  /// The run has something new. Returns at once.
  void tell();

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace hqmm::cli
