// Requests over HTTP to a program on this machine, one at a time; the library behind it is in the .cpp alone.
//
// 1. No request takes longer than a few times the time-out.
// 2. Whatever goes wrong is an answer without a status; nothing throws.
// Threads: send() by one; abort() by any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shared/base/time.hpp"

namespace shoal {

enum class HttpMethod : std::uint8_t { Get, Post, Put, Patch };

struct HttpAnswer {
  int status = 0;  // 0: there was no answer
  std::string body{};
  std::string error{};  // why there was none
};

class HttpClient {
 public:
  /// Talks to 127.0.0.1. `time_out`: for connecting, for sending and for each part of the answer.
  HttpClient(std::uint16_t port, Duration time_out);
  ~HttpClient();

  /// `body` is JSON; Get sends none.
  HttpAnswer send(HttpMethod method, const std::string& path, const std::string& body);
  /// Ends the request that is under way, if there is one.
  void abort();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal
