#include "hqmm/io/fetch.hpp"

#include <curl/curl.h>

#include <array>
#include <cmath>
#include <exception>
#include <memory>
#include <new>
#include <string_view>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/version.hpp"

namespace hqmm::detail {
namespace {

Error too_large(const std::string& from, std::uint64_t most_bytes) {
  return fail(ErrorCode::kBadData, Where{.file = from},
              "is larger than the {} bytes allowed for it", most_bytes);
}

/// libcurl wants one initialisation per process; the standard makes that of a static thread-safe.
void start_curl() {
  static const CURLcode status = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (status != CURLE_OK) throw fail(ErrorCode::kInternal, "libcurl cannot be started");
}

struct Transfer {
  const FetchOptions& options;
  std::string body;
  bool too_large = false;
  std::exception_ptr failure;  // no exception may pass through libcurl
};

std::size_t on_bytes(char* data, std::size_t /*one*/, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (size > transfer.options.most_bytes - transfer.body.size()) {
    transfer.too_large = true;
    return 0;
  }
  try {
    transfer.body.append(data, size);
  } catch (...) {
    transfer.failure = std::current_exception();
    return 0;
  }
  return size;
}

int on_progress(void* user, curl_off_t total, curl_off_t now, curl_off_t /*up_total*/,
                curl_off_t /*up_now*/) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    if (transfer.options.on_progress)
      transfer.options.on_progress(static_cast<std::uint64_t>(now),
                                   static_cast<std::uint64_t>(total));
  } catch (...) {
    transfer.failure = std::current_exception();
    return 1;
  }
  return 0;
}

class Handle {
 public:
  Handle() : curl_(curl_easy_init()) {
    if (!curl_) throw std::bad_alloc();
  }
  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode status = curl_easy_setopt(curl_.get(), option, value);
    if (status == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (status != CURLE_OK)
      throw fail(ErrorCode::kInternal, "libcurl lacks something: {}", curl_easy_strerror(status));
  }
  CURLcode perform() { return curl_easy_perform(curl_.get()); }
  [[nodiscard]] long response() const {
    long code = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &code);
    return code;
  }

 private:
  struct Free {
    void operator()(CURL* curl) const noexcept { curl_easy_cleanup(curl); }
  };
  std::unique_ptr<CURL, Free> curl_;
};

long milliseconds(double seconds) { return std::lround(1000.0 * seconds); }

void prepare(Handle& curl, const std::string& url, Transfer& transfer, char* message) {
  const FetchOptions& options = transfer.options;
  curl.set(CURLOPT_ERRORBUFFER, message);
  curl.set(CURLOPT_URL, url.c_str());
  curl.set(CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl.set(CURLOPT_FOLLOWLOCATION, 1L);
  curl.set(CURLOPT_MAXREDIRS, static_cast<long>(options.most_redirects));
  curl.set(CURLOPT_FAILONERROR, 1L);
  curl.set(CURLOPT_NOSIGNAL, 1L);
  curl.set(CURLOPT_USERAGENT, "hqmm/" HQMM_VERSION);
  curl.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connect_seconds));
  curl.set(CURLOPT_TIMEOUT_MS, milliseconds(options.total_seconds));
  curl.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl.set(CURLOPT_LOW_SPEED_TIME, std::lround(std::ceil(options.stall_seconds)));
  curl.set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options.most_bytes));
  curl.set(CURLOPT_WRITEFUNCTION, &on_bytes);
  curl.set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  curl.set(CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl.set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
  curl.set(CURLOPT_NOPROGRESS, 0L);
}

std::string fetch_url(const std::string& url, const FetchOptions& options) {
  start_curl();
  Transfer transfer{options, {}, false, {}};
  std::array<char, CURL_ERROR_SIZE> message{};
  Handle curl;
  prepare(curl, url, transfer, message.data());
  const CURLcode status = curl.perform();
  if (transfer.failure) std::rethrow_exception(transfer.failure);
  if (transfer.too_large || status == CURLE_FILESIZE_EXCEEDED)
    throw too_large(url, options.most_bytes);
  if (status == CURLE_OK) return std::move(transfer.body);
  if (status == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (status == CURLE_HTTP_RETURNED_ERROR) {
    throw fail(ErrorCode::kNoInput, Where{.file = url}, "the server answered with status {}",
               curl.response());
  }
  const std::string_view detail(message.data());
  throw fail(ErrorCode::kNoInput, Where{.file = url}, "cannot be fetched: {}",
             printable(detail.empty() ? curl_easy_strerror(status) : detail, 200));
}

std::string fetch_path(const std::string& path, const FetchOptions& options) {
  ByteSource source(path);
  std::string out;
  std::array<char, 65536> block{};
  while (const std::size_t got = source.read(block)) {
    if (got > options.most_bytes - out.size()) throw too_large(path, options.most_bytes);
    out.append(block.data(), got);
  }
  return out;
}

}  // namespace

std::string fetch(const std::string& from, const FetchOptions& options) {
  const std::size_t mark = from.find("://");
  const std::string_view scheme = std::string_view(from).substr(0, mark);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool address = mark != std::string::npos && !scheme.empty() && is_letter(scheme[0]) &&
                       scheme.find('/') == std::string_view::npos;
  if (!address) return fetch_path(from, options);
  for (const std::string_view known : {"http", "https", "file"}) {
    if (curl_strnequal(scheme.data(), known.data(), scheme.size()) != 0 &&
        scheme.size() == known.size())
      return fetch_url(from, options);
  }
  throw fail(ErrorCode::kUsage, Where{.file = from},
             "'{}' addresses are not fetched: give http, https or file, or a path",
             printable(scheme));
}

}  // namespace hqmm::detail
