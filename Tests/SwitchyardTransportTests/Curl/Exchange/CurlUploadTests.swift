#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// Uploads to a server that responds or closes before the body is complete.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlUploadTests {
        /// Reads until the end of the chunks or of the connection, and sends `answer` after the head.
        private static func serve(_ connection: Int32, _ answer: String, closes: Bool) -> String {
            var received = Data()
            var hasAnswered = false
            var buffer = [UInt8](repeating: 0, count: 4096)
            var timeout = timeval(tv_sec: 30, tv_usec: 0)
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            while received.range(of: Data("\r\n0\r\n\r\n".utf8)) == nil {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                received.append(contentsOf: buffer[..<count])
                guard !hasAnswered, received.range(of: Data("\r\n\r\n".utf8)) != nil else { continue }
                hasAnswered = true
                _ = Glibc.send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                if closes { break }
            }
            return String(decoding: received, as: UTF8.self)
        }

        private func request(
            to listener: TCPListener,
            _ latch: Latch,
            _ delivery: HTTPRequest.Delivery
        ) throws -> HTTPRequest {
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let body = HTTPBody.stream(HTTPBody.Stream(length: nil) { WaitingReader(latch) })
            // The idle timeout is paused while the transfer waits for the body. The total timeout ends a failing test.
            let timeouts = HTTPRequest.Timeouts(total: .seconds(240))
            return HTTPRequest(method: .post, url: url, body: body, timeouts: timeouts, delivery: delivery)
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], [true, false])
        func `an error response ends an upload that waits for its body`(
            _ delivery: HTTPRequest.Delivery,
            _ closes: Bool
        ) async throws {
            let listener = try TCPListener()
            let latch = Latch()
            defer { latch.open() }
            let answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"
            async let served = listener.serveOne { Self.serve($0, answer, closes: closes) }

            let response = try await CurlTransport().send(try request(to: listener, latch, delivery))

            #expect(response.status == 413)
            #expect(try await response.bytes() == Data("no".utf8))
            #expect(await !served.contains("\r\nlate"))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a closed connection ends an upload that waits for its body`(
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let listener = try TCPListener()
            let latch = Latch()
            defer { latch.open() }
            async let served = listener.serveOne { Self.serve($0, "", closes: true) }

            await #expect {
                _ = try await CurlTransport().send(try request(to: listener, latch, delivery))
            } throws: {
                ($0 as? TransportError)?.kind == .connectionReset
            }
            #expect(await served.hasPrefix("POST"))
        }

        @Test func `an early success response does not end an upload`() async throws {
            let listener = try TCPListener()
            let latch = Latch()
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            async let served = listener.serveOne { Self.serve($0, answer, closes: false) }

            let response = try await CurlTransport().send(try request(to: listener, latch, .stream))
            #expect(response.status == 200)
            latch.open()

            #expect(try await response.bytes() == Data("ok".utf8))
            #expect(await served.hasSuffix("4\r\nlate\r\n0\r\n\r\n"))
        }

        @Test func `an upload that continues after its response has arrived does not block other requests`()
            async throws
        {
            let listener = try TCPListener()
            let other = LoopbackServer()
            other.route(.get, "/", answering: .text("hello"))
            try other.start()
            let latch = Latch()
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            async let served = listener.serveOne { Self.serve($0, answer, closes: false) }
            let transport = try CurlTransport()
            let response = try await transport.send(try request(to: listener, latch, .stream))

            let url = try #require(RequestURL(other.baseURL + "/"))
            let second = try await transport.send(HTTPRequest(url: url, timeouts: .init(total: .seconds(240))))

            #expect(try await second.bytes() == Data("hello".utf8))
            latch.open()
            #expect(try await response.bytes() == Data("ok".utf8))
            #expect(await served.hasSuffix("4\r\nlate\r\n0\r\n\r\n"))
        }

        @Test func `a server that does not read the body causes an idle timeout`() async throws {
            let listener = try TCPListener()
            let isOver = DispatchSemaphore(value: 0)
            async let served: Void = listener.serveOne { _ in _ = isOver.wait(timeout: .now() + 30) }
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            var request = HTTPRequest(method: .put, url: url, body: .data(Data(count: 64 << 20)))
            request.timeouts.idle = .milliseconds(500)

            await #expect {
                _ = try await CurlTransport().send(request)
            } throws: {
                ($0 as? TransportError)?.kind == .timeout
            }
            isOver.signal()
            await served
        }

        // RFC 9110 section 10.1.1: the server has not processed the request yet, so any request may be sent again.
        @Test(arguments: [HTTPMethod.put, .post])
        func `a request is sent again without Expect after a 417`(_ method: HTTPMethod) async throws {
            let listener = try TCPListener()
            async let heads = listener.serveOne { Self.serveWithoutExpectation($0) }
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            var request = HTTPRequest(method: method, url: url, headers: ["Expect": "100-continue"])
            request.body = .data(Data(count: 100_000))
            request.timeouts.total = .seconds(240)

            let transport = try CurlTransport()
            let response = try await transport.send(request)
            transport.shutdown()

            // libcurl waits a second for the server. On a slower machine it has already begun to send the body.
            let isFirst = response.status == 417
            #expect(response.status == (isFirst ? 417 : 200))
            #expect(response.headers["X-Answer"] == (isFirst ? "first" : "second"))
            #expect(try await response.bytes() == Data((isFirst ? "no" : "yes").utf8))
            #expect(await heads == (isFirst ? 1 : 2))
        }

        @Test(arguments: [HTTPMethod.put, .post])
        func `a 417 that was already streamed remains the response`(_ method: HTTPMethod) async throws {
            let listener = try TCPListener()
            async let heads = listener.serveOne { Self.serveWithoutExpectation($0) }
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            var request = HTTPRequest(method: method, url: url, headers: ["Expect": "100-continue"], delivery: .stream)
            request.body = .data(Data(count: 100_000))
            request.timeouts.total = .seconds(240)

            let transport = try CurlTransport()
            let response = try await transport.send(request)
            _ = try await response.bytes()
            transport.shutdown()

            #expect(response.status == 417)
            #expect(response.headers["X-Answer"] == "first")
            #expect(await heads == 1)
        }

        /// Responds to the first head with 417 and to the second with 200, and returns the number of heads.
        private static func serveWithoutExpectation(_ connection: Int32) -> Int {
            var heads = 0
            var buffer = [UInt8](repeating: 0, count: 4096)
            var timeout = timeval(tv_sec: 30, tv_usec: 0)
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            while true {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return heads }
                guard String(decoding: buffer[..<count], as: UTF8.self).contains("HTTP/1.1\r\n") else { continue }
                heads += 1
                let answer =
                    heads == 1
                    ? "HTTP/1.1 417 No\r\nX-Answer: first\r\nContent-Length: 2\r\n\r\nno"
                    : "HTTP/1.1 200 OK\r\nX-Answer: second\r\nContent-Length: 3\r\n\r\nyes"
                _ = Glibc.send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            }
        }
    }
#endif
