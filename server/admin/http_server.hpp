// An HTTP/1.1 server for few and small requests, CivetWeb behind it in one file.
//
// 1. Each connection carries one request, and holds a thread for at most kRequestTimeOut while it says nothing or reads
//    nothing. So many silent ones as there are threads make the others wait that long, and nothing else.
// 2. Requests are small: a header of at most kMaxHeaderBytes, a body of at most kMaxBodyBytes; larger ones are refused
//    unread.
// 3. The handler is called from the server's own threads, from several at once. An exception in it is a reply with
//    status 500.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "server/admin/http.hpp"
#include "shared/base/result.hpp"
#include "shared/base/time.hpp"
#include "shared/net/endpoint.hpp"

namespace shoal {

class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;
  static constexpr unsigned kThreads = 24;
  static constexpr Duration kRequestTimeOut = seconds(3);
  static constexpr std::size_t kMaxHeaderBytes = 8192;
  static constexpr std::size_t kMaxBodyBytes = 4096;

  struct Error {
    bool is_in_use = false;  // another socket listens there
    std::string why;
  };

  /// Port 0 takes a free one. The clock outlives the server, and may be read from several threads.
  static Result<std::unique_ptr<HttpServer>, Error> start(const Endpoint& address, const Clock& clock,
                                                          Handler handler);
  /// Waits for the threads: at most kRequestTimeOut if connections are open.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// With the port that was taken.
  const Endpoint& local() const { return local_; }

 private:
  struct Civet;
  HttpServer();

  Endpoint local_;
  std::unique_ptr<Civet> civet_;
};

}  // namespace shoal
