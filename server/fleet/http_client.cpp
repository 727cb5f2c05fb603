#include "server/fleet/http_client.hpp"

#include <httplib.h>

#include <algorithm>

namespace shoal {

struct HttpClient::Impl {
  explicit Impl(std::uint16_t port) : client("127.0.0.1", port) {}
  httplib::Client client;
};

HttpClient::HttpClient(std::uint16_t port, Duration time_out) : impl_(std::make_unique<Impl>(port)) {
  // abort() waits for a connection that is being made.
  impl_->client.set_connection_timeout(std::min<Duration>(time_out, milliseconds(500)));
  impl_->client.set_read_timeout(time_out);
  impl_->client.set_write_timeout(time_out);
}

HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::send(HttpMethod method, const std::string& path, const std::string& body) {
  constexpr const char* kJson = "application/json";
  const auto ask = [&] {
    switch (method) {
      case HttpMethod::Get:
        return impl_->client.Get(path);
      case HttpMethod::Post:
        return impl_->client.Post(path, body, kJson);
      case HttpMethod::Put:
        return impl_->client.Put(path, body, kJson);
      case HttpMethod::Patch:
        break;
    }
    return impl_->client.Patch(path, body, kJson);
  };
  try {
    const httplib::Result result = ask();
    if (!result) return {.error = httplib::to_string(result.error())};
    return {.status = result->status, .body = result->body};
  } catch (const std::exception& error) {
    return {.error = error.what()};
  }
}

void HttpClient::abort() {
  impl_->client.stop();
}

}  // namespace shoal
