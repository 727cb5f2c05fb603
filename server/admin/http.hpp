// A request and its reply, as plain values: what the routes know of HTTP.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal {

struct HttpRequest {
  std::string method;
  std::string path;   // decoded, without the query
  std::string query;  // as it came, without '?'
  std::string host;   // the header, may be empty
  std::string authorization;
  std::string remote;  // address, without port
  std::string body;
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// One line of text.
inline HttpReply text_reply(int status, std::string line) {
  return {status, std::move(line) + "\n"};
}

}  // namespace shoal
