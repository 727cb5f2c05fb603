#include "server/admin/http_server.hpp"

#include <civetweb.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <exception>
#include <future>
#include <optional>
#include <thread>

#include "shared/base/log.hpp"

namespace shoal {

struct HttpServer::Civet {
  const Clock* clock = nullptr;
  Handler handler;
  std::thread::id starter;
  std::string said;  // by CivetWeb, on that thread: why it does not start
  mg_context* context = nullptr;

  static int on_request(mg_connection* connection);
  static int on_log(const mg_connection* connection, const char* message);
};

namespace {

std::string text_or_nothing(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

// The body, or why there is none. Byte for byte, so that who sends it so is cut off in time; it is short.
Result<std::string, HttpReply> read_body(mg_connection* connection, long long announced, const Clock& clock) {
  std::string body;
  char byte = 0;
  for (const Time end = clock.now() + HttpServer::kRequestTimeOut; clock.now() < end;) {
    if (announced > static_cast<long long>(HttpServer::kMaxBodyBytes) ||
        body.size() > HttpServer::kMaxBodyBytes)
      return Failure{
          text_reply(413, fmt::format("a request's body has at most {} bytes", HttpServer::kMaxBodyBytes))};
    if (mg_read(connection, &byte, 1) <= 0) {
      if (announced > static_cast<long long>(body.size()))
        return Failure{text_reply(400, "the request's body ends before its Content-Length")};
      return body;
    }
    body += byte;
  }
  return Failure{text_reply(408, "the request's body took too long")};
}

void write_reply(mg_connection* connection, const HttpReply& reply, bool has_body) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
      reply.status, mg_get_response_code_text(connection, reply.status), reply.content_type,
      reply.body.size());
  for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += "\r\n";
  if (has_body) text += reply.body;
  mg_write(connection, text.data(), text.size());
}

HttpReply answer(mg_connection* connection, const mg_request_info& info, const Clock& clock,
                 const HttpServer::Handler& handler) {
  HttpRequest request;
  request.method = text_or_nothing(info.request_method);
  request.path = text_or_nothing(info.local_uri);
  request.query = text_or_nothing(info.query_string);
  request.host = text_or_nothing(mg_get_header(connection, "Host"));
  request.authorization = text_or_nothing(mg_get_header(connection, "Authorization"));
  request.remote = text_or_nothing(info.remote_addr);
  auto body = read_body(connection, info.content_length, clock);
  if (!body) return body.error();
  request.body = std::move(*body);
  return handler(request);
}

// CivetWeb looks whether it is to end when somebody connects, and every two seconds. So somebody connects.
void stop(mg_context* context, const Endpoint& local) {
  std::promise<void> promise;
  const auto is_over = promise.get_future();
  std::thread stopper([&] {
    mg_stop(context);
    promise.set_value();
  });
  std::string host = local.is_any() ? "127.0.0.1" : to_string(local);
  if (!local.is_any()) host.resize(host.rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  do {
    std::array<char, 128> error{};
    if (mg_connection* connection =
            mg_connect_client(host.c_str(), local.port, 0, error.data(), error.size()))
      mg_close_connection(connection);
  } while (is_over.wait_for(milliseconds(10)) != std::future_status::ready);
  stopper.join();
}

}  // namespace

int HttpServer::Civet::on_request(mg_connection* connection) {
  const mg_request_info& info = *mg_get_request_info(connection);
  const auto& civet = *static_cast<const Civet*>(info.user_data);
  HttpReply reply;
  // Behind this there is C.
  try {
    reply = answer(connection, info, *civet.clock, civet.handler);
  } catch (const std::exception& exception) {
    log_error("admin: {} {}: {}", text_or_nothing(info.request_method), text_or_nothing(info.local_uri),
              exception.what());
    reply = text_reply(500, "this request failed: the server's log says more");
  }
  write_reply(connection, reply, text_or_nothing(info.request_method) != "HEAD");
  mg_disable_connection_keep_alive(connection);  // else what the peer still sends is waited for
  return reply.status;
}

int HttpServer::Civet::on_log(const mg_connection* connection, const char* message) {
  auto* civet = static_cast<Civet*>(mg_get_user_data(mg_get_context(connection)));
  // Of the start alone: afterwards it is CivetWeb's own threads that complain.
  if (civet != nullptr && std::this_thread::get_id() == civet->starter)
    civet->said += fmt::format("{}; ", message);
  log_debug("admin: {}", message);
  return 1;  // it is written
}

HttpServer::HttpServer() : civet_(std::make_unique<Civet>()) {
  mg_init_library(0);
}

HttpServer::~HttpServer() {
  if (civet_->context != nullptr) stop(civet_->context, local_);
  mg_exit_library();
}

Result<std::unique_ptr<HttpServer>, HttpServer::Error> HttpServer::start(const Endpoint& address,
                                                                         const Clock& clock,
                                                                         Handler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer);
  Civet& civet = *server->civet_;
  civet.starter = std::this_thread::get_id();
  civet.clock = &clock;
  civet.handler = std::move(handler);
  const std::string place = to_string(address);
  const std::string threads = std::to_string(kThreads);
  const std::string time_out = fmt::format("{:.0f}", to_milliseconds(kRequestTimeOut));
  const std::string header = std::to_string(kMaxHeaderBytes);
  const char* options[] = {"listening_ports",
                           place.c_str(),
                           "num_threads",
                           threads.c_str(),
                           "request_timeout_ms",
                           time_out.c_str(),
                           "max_request_size",
                           header.c_str(),
                           "enable_keep_alive",
                           "no",
                           "tcp_nodelay",
                           "1",
                           "connection_queue",
                           "64",
                           "listen_backlog",
                           "64",
                           nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = &Civet::on_request;
  callbacks.log_message = &Civet::on_log;
  mg_init_data init{&callbacks, &civet, options};
  std::array<char, 256> text{};
  mg_error_data error{};
  error.text = text.data();
  error.text_buffer_size = text.size();
  mg_context* context = mg_start2(&init, &error);
  if (context == nullptr) {
    const bool is_in_use = civet.said.find(fmt::format(": {} (", EADDRINUSE)) != std::string::npos;
    return Failure{
        Error{is_in_use, fmt::format("cannot listen on {}: {}{}", place, civet.said, text.data())}};
  }
  civet.context = context;
  server->local_ = address;
  std::array<mg_server_port, 4> ports{};
  if (mg_get_server_ports(context, static_cast<int>(ports.size()), ports.data()) > 0)
    server->local_.port = static_cast<std::uint16_t>(ports[0].port);
  return server;
}

}  // namespace shoal
