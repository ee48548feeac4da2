// The only file that knows cpp-httplib, and one of its own for the compiler.
#include "train/live.hpp"

#include <fmt/format.h>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/signals_blocked.hpp"
#include "hqmm/report/report.hpp"

#ifdef HQMM_HAS_HTTPLIB

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace hqmm::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kAddress = "127.0.0.1";
constexpr std::size_t kThreads = 16;
constexpr int kMostStreams = 8;         // each takes a thread as long as somebody looks
constexpr seconds kPatience{2};         // with those who do not read, or do not ask
constexpr seconds kGoodbye{5};          // for the last events
constexpr seconds kHeartbeat{15};       // in a long epoch: is anybody there?
constexpr milliseconds kLeastGap{500};  // between two documents
constexpr int kWorkPerGap = 10;         // making documents takes at most a tenth of a thread

void answer(httplib::Response& response, int status, const char* text) {
  response.status = status;
  response.set_content(text, "text/plain; charset=utf-8");
}

std::string event(const char* name, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);  // JSON on one line
}

}  // namespace

class LivePage::Server {
 public:
  Server(std::string run_path, int port) : run_path_(std::move(run_path)) {
    // Not the library's own: those let two programs share a port.
    http_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    http_.set_keep_alive_max_count(1);
    http_.set_keep_alive_timeout(kPatience.count());
    http_.set_read_timeout(kPatience.count());
    http_.set_write_timeout(kPatience.count());
    http_.set_default_headers({{"Cache-Control", "no-store"},
                               {"X-Content-Type-Options", "nosniff"},
                               {"X-Frame-Options", "DENY"},
                               {"Cross-Origin-Resource-Policy", "same-origin"},
                               {"Referrer-Policy", "no-referrer"}});
    // Before any route, file or body is looked at: nothing but this answers.
    http_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          try {
            reply(request, response);
          } catch (const std::exception&) {  // its words may name files
            answer(response, 500, "the run cannot be read just now\n");
          }
          return httplib::Server::HandlerResponse::Handled;
        });
    port_ = port == 0 ? http_.bind_to_any_port(kAddress)
                      : (http_.bind_to_port(kAddress, port) ? port : -1);
    if (port_ <= 0) {
      throw fail(ErrorCode::kUsage,
                 "--live: port {} is not available: another program may use it, choose another "
                 "or none",
                 port);
    }
    const SignalsBlocked blocked;  // Ctrl-C is for the training
    thread_ = std::thread([this] {
      http_.listen_after_bind();
      over_ = true;
    });
    // stop() does nothing before it runs.
    while (!http_.is_running() && !over_) std::this_thread::sleep_for(milliseconds(1));
  }

  ~Server() {
    say_goodbye();
    http_.stop();
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const { return port_; }

  void tell() {
    const std::lock_guard lock(mutex_);
    ++version_;
    changed_.notify_all();
  }

 private:
  /// What a client has seen of the run.
  struct Stream {
    std::uint64_t version = 0;
    Clock::time_point next{};  // not before
  };

  /// A page from elsewhere that has its name resolve to this machine asks for it by that name.
  [[nodiscard]] bool asked_by_name(const httplib::Request& request) const {
    if (request.get_header_value_count("Host") != 1) return false;
    const std::string host = request.get_header_value("Host");
    for (const char* name : {kAddress, "localhost"}) {
      if (host == fmt::format("{}:{}", name, port_)) return true;
      if (port_ == 80 && host == name) return true;
    }
    return false;
  }

  void reply(const httplib::Request& request, httplib::Response& response) {
    if (!asked_by_name(request)) {
      answer(response, 403, "this page is served on 127.0.0.1 only\n");
    } else if (request.method != "GET") {
      response.set_header("Allow", "GET");
      answer(response, 405, "GET only\n");
    } else if (!request.ranges.empty()) {
      answer(response, 416, "whole pages only\n");
    } else if (request.path == "/") {
      response.status = 200;
      response.set_content(report_page(document()), "text/html; charset=utf-8");
    } else if (request.path == "/document.json") {
      response.status = 200;
      response.set_content(document(), "application/json");
    } else if (request.path == "/events") {
      begin_stream(response);
    } else {
      answer(response, 404, "there is nothing here\n");
    }
  }

  void begin_stream(httplib::Response& response) {
    {
      const std::lock_guard lock(mutex_);
      if (ended_ || streams_ == kMostStreams) {
        answer(response, 503, "too many browsers are watching this run already\n");
        return;
      }
      ++streams_;
    }
    response.status = 200;
    const auto stream = std::make_shared<Stream>();
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, stream](std::size_t, httplib::DataSink& sink) { return go_on(*stream, sink); },
        [this](bool) {
          const std::lock_guard lock(mutex_);
          --streams_;
          changed_.notify_all();
        });
  }

  /// The next event, once there is one; false when no client listens.
  bool go_on(Stream& stream, httplib::DataSink& sink) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, stream.next, [&] { return ended_; });
    const bool any =
        changed_.wait_for(lock, kHeartbeat, [&] { return ended_ || stream.version != version_; });
    const bool last = ended_;
    const std::uint64_t version = version_;
    lock.unlock();
    std::string text = ": still training\n\n";
    if (any) {
      const auto begin = Clock::now();
      try {
        text = event("document", document());
      } catch (const std::exception&) {  // a file that is being replaced: the next time
        text = ": not now\n\n";
      }
      stream.version = version;
      stream.next =
          Clock::now() + std::max<Clock::duration>(kLeastGap, kWorkPerGap * (Clock::now() - begin));
      if (last) text += event("end", "{}");
    }
    if (!sink.write(text.data(), text.size())) return false;
    if (last) sink.done();
    return true;
  }

  /// Made once for all who ask before the run continues.
  std::string document() {
    const std::lock_guard making(making_);
    bool last = false;
    std::uint64_t version = 0;
    {
      const std::lock_guard lock(mutex_);
      last = ended_;
      version = version_;
    }
    if (version != made_version_) {
      ReportOptions options;
      options.live = !last;
      made_ = report_document({run_path_}, options);
      made_version_ = version;
    }
    return made_;
  }

  void say_goodbye() {
    std::unique_lock lock(mutex_);
    ended_ = true;
    ++version_;
    changed_.notify_all();
    changed_.wait_for(lock, kGoodbye, [&] { return streams_ == 0; });
  }

  std::string run_path_;
  httplib::Server http_;
  int port_ = 0;
  std::thread thread_;
  std::atomic<bool> over_ = false;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::uint64_t version_ = 1;
  bool ended_ = false;
  int streams_ = 0;

  std::mutex making_;  // of what follows; before mutex_
  std::string made_;
  std::uint64_t made_version_ = 0;
};

LivePage::LivePage(const std::string& run_path, int port)
    : server_(std::make_unique<Server>(run_path, port)) {}
LivePage::~LivePage() = default;
std::string LivePage::address() const {
  return fmt::format("http://{}:{}/", kAddress, server_->port());
}
void LivePage::tell() { server_->tell(); }

}  // namespace hqmm::cli

#else

namespace hqmm::cli {

class LivePage::Server {};

LivePage::LivePage(const std::string& /*run_path*/, int /*port*/) { require_live_pages(); }
LivePage::~LivePage() = default;
std::string LivePage::address() const { return ""; }
void LivePage::tell() {}

}  // namespace hqmm::cli

#endif

namespace hqmm::cli {

void require_live_pages() {
  constexpr const char* kOtherwise =
      "build it again ('./dev build'), or follow the run with 'hqmm inspect'";
  if (!has_report_page())
    throw fail(ErrorCode::kUsage,
               "--live: this hqmm was built without npm and has no page to show: "
               "install nodejs and npm, {}",
               kOtherwise);
#ifndef HQMM_HAS_HTTPLIB
  throw fail(ErrorCode::kUsage,
             "--live: this hqmm was built without cpp-httplib and cannot serve a page: install "
             "libcpp-httplib-dev, {}",
             kOtherwise);
#endif
}

}  // namespace hqmm::cli
