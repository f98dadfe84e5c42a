#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import Testing

    /// Uploads over HTTP/2, whose response may be complete before the body.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct HTTP2UploadTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        @Test(arguments: [true, false])
        func `a streamed body arrives with or without a known length`(_ isLengthKnown: Bool) async throws {
            let received = Locked(Data())
            let server = try lab.serve { event in
                guard case .data(let bytes, let stream, let ends) = event else { return [] }
                received.withLock { $0.append(bytes) }
                return ends ? HTTP2Frame.answer("done", to: stream) : []
            }
            let pieces = (0..<40).map { Data(repeating: UInt8($0), count: 10_000) }
            let body = HTTPBody.pieces(pieces, length: isLengthKnown ? 400_000 : nil)

            let response = try await lab.send(try lab.request(to: server, method: .post, body: body))

            #expect(try await response.bytes() == Data("done".utf8))
            #expect(received.withLock { $0 } == Data(pieces.joined()))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `an error response ends an upload that waits for its body`(_ delivery: HTTPRequest.Delivery) async throws {
            let server = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return HTTP2Frame.answer("no", to: stream, status: 413)
            }
            let latch = Latch()
            defer { latch.open() }
            let body = HTTPBody.stream(HTTPBody.Stream(length: nil) { WaitingReader(latch) })

            let response = try await lab.send(try lab.request(to: server, method: .post, body: body, delivery))

            #expect(response.status == 413)
            #expect(try await response.bytes() == Data("no".utf8))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `an error response ends an upload in the middle of its body`(_ delivery: HTTPRequest.Delivery) async throws
        {
            let received = Locked(0)
            let server = try lab.serve { event in
                switch event {
                case .head(let stream, _): return HTTP2Frame.answer("no", to: stream, status: 413)
                case .data(let bytes, let stream, _) where !bytes.isEmpty:
                    received.withLock { $0 += bytes.count }
                    // The data that libcurl has already read still has to be sent, and so has the end of the body.
                    return [0, stream].map { .window(UInt32(bytes.count), of: $0) }
                default: break
                }
                return []
            }
            let body = HTTPBody.data(.pattern(20_000_000))

            let response = try await lab.send(try lab.request(to: server, method: .put, body: body, delivery))

            #expect(response.status == 413)
            #expect(try await response.bytes() == Data("no".utf8))
            #expect(received.withLock { $0 } < 20_000_000)
        }

        @Test func `a server that reads a body slowly causes no idle timeout`() async throws {
            try await calm()
            let server = try lab.serve(window: 16_000) { event in
                guard case .data(let bytes, let stream, let ends) = event else { return [] }
                Thread.sleep(forTimeInterval: 0.1)  // The delay is part of the test.
                return ends ? HTTP2Frame.answer("ok", to: stream) : [.window(UInt32(bytes.count), of: stream)]
            }
            // libcurl reads the body once and sends it for one and a half seconds.
            var request = try lab.request(to: server, method: .put, body: .data(.pattern(250_000)))
            request.timeouts.idle = .milliseconds(900)

            #expect(try await lab.send(request).status == 200)
        }

        // In its own process, where no other test uses the processor.
        @Test(.startsProcess) func `an upload that waits for the server uses no processor time`() async throws {
            await #expect(processExitsWith: .success) {
                let lab = try HTTP2Lab()
                let isSent = Latch()
                let server = try lab.serve(window: 1000) { event in
                    if case .data = event { isSent.open() }
                    return []
                }
                let request = try lab.request(to: server, method: .put, body: .data(.pattern(20_000_000)))
                let upload = Task { try await lab.send(request) }
                await isSent.wait()

                let before = clock()
                try await Task.sleep(for: .milliseconds(300))

                // A busy loop would use all of it.
                #expect(Double(clock() - before) / Double(CLOCKS_PER_SEC) < 0.15)
                upload.cancel()
            }
        }

        // In its own process, where no other test uses the processor.
        @Test(.startsProcess) func `a transport whose uploads were refused uses no processor time`() async throws {
            await #expect(processExitsWith: .success) {
                let lab = try HTTP2Lab()
                let early = try lab.serve(window: 1000) { event in
                    guard case .head(let stream, _) = event else { return [] }
                    return HTTP2Frame.measuredAnswer("no", to: stream, status: 413)
                }
                let plain = LoopbackServer()
                try plain.start()
                for url in [early.url, plain.baseURL] {
                    let request = try lab.request(at: url, method: .put, body: .data(.pattern(100_000)))
                    #expect(try await lab.send(request).status >= 400)
                }

                let before = clock()
                try await Task.sleep(for: .milliseconds(300))  // The idle time is part of the test.

                // A busy loop would use all of it.
                #expect(Double(clock() - before) / Double(CLOCKS_PER_SEC) < 0.15)
                withExtendedLifetime((early, plain)) {}
            }
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `an error response of known length ends an upload that the server does not read`(
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let received = Locked(0)
            let server = try lab.serve(window: 100_000) { event in
                guard case .data(let bytes, let stream, _) = event else { return [] }
                let count = received.withLock { count in
                    count += bytes.count
                    return count
                }
                // The client has then used up its window.
                return count < 100_000 ? [] : HTTP2Frame.measuredAnswer("no", to: stream, status: 413)
            }
            let body = HTTPBody.data(.pattern(20_000_000))

            let response = try await lab.send(try lab.request(to: server, method: .put, body: body, delivery))

            #expect(response.status == 413)
            #expect(try await response.bytes() == Data("no".utf8))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], [true, false])
        func `an upload continues after a response of known length has arrived completely`(
            _ delivery: HTTPRequest.Delivery,
            _ isLengthKnown: Bool
        ) async throws {
            let received = Locked(Data())
            let hasEnded = Latch()
            let server = try lab.serve(window: 1000) { event in
                switch event {
                case .head(let stream, _): return HTTP2Frame.measuredAnswer("early", to: stream, status: 200)
                case .data(let bytes, let stream, let ends):
                    received.withLock { $0.append(bytes) }
                    if ends { hasEnded.open() }
                    return bytes.isEmpty ? [] : [.window(UInt32(bytes.count), of: stream)]
                default: return []
                }
            }
            let pieces = (0..<40).map { Data(repeating: UInt8($0), count: 1_000) }
            let body = HTTPBody.pieces(pieces, length: isLengthKnown ? 40_000 : nil)

            let response = try await lab.send(try lab.request(to: server, method: .post, body: body, delivery))

            #expect(try await response.bytes() == Data("early".utf8))
            await hasEnded.wait()
            #expect(received.withLock { $0 } == Data(pieces.joined()))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], [HTTP2Frame.Code.none, .cancel])
        func `a response is returned even if the server then resets the stream of the upload`(
            _ delivery: HTTPRequest.Delivery,
            _ code: HTTP2Frame.Code
        ) async throws {
            let server = try lab.serve { event in
                switch event {
                case .head(let stream, _): HTTP2Frame.measuredAnswer("enough", to: stream, status: 200) + [.ping]
                // Not immediately, because libcurl 7.88 loses a response that it reads together with the reset.
                case .pong: [.reset(1, code)]
                default: []
                }
            }
            let body = HTTPBody.data(.pattern(20_000_000))

            let response = try await lab.send(try lab.request(to: server, method: .put, body: body, delivery))

            #expect(try await response.bytes() == Data("enough".utf8))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a response body shorter than its Content-Length is reported as truncated`(
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let server = try lab.serve { event in
                switch event {
                case .data(_, let stream, true):
                    [
                        .head([":status": "200", "content-length": "9"], of: stream),
                        .data("part", of: stream, ends: false), .ping,
                    ]
                case .pong: [.reset(1, .none)]
                default: []
                }
            }
            let body = HTTPBody.data(Data("x".utf8))

            let error = await lab.failure(of: try lab.request(to: server, method: .post, body: body, delivery))

            #expect(error?.kind == .truncated)
        }

        // RFC 9110 section 8.6: the length is that of the response to the same request without conditions.
        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a 304 response to an upload is complete without a body, whatever its Content-Length is`(
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let server = try lab.serve { event in
                guard case .data(_, let stream, true) = event else { return [] }
                return [.head([":status": "304", "content-length": "9"], of: stream, ends: true)]
            }
            let body = HTTPBody.data(Data("x".utf8))

            let response = try await lab.send(try lab.request(to: server, method: .post, body: body, delivery))

            #expect(response.status == 304)
            #expect(try await response.bytes().isEmpty)
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], [true, false])
        func `a response that arrives before the end of the upload is returned after the upload`(
            _ delivery: HTTPRequest.Delivery,
            _ isKnown: Bool
        ) async throws {
            let latch = Latch()
            let server = try lab.serve { event in
                switch event {
                case .head(let stream, _): return HTTP2Frame.answer("early", to: stream) + [.ping]
                case .pong: latch.open()
                default: break
                }
                return []
            }
            let body = HTTPBody.stream(HTTPBody.Stream(length: isKnown ? 4 : nil) { WaitingReader(latch) })

            let response = try await lab.send(try lab.request(to: server, method: .post, body: body, delivery))

            #expect(try await response.bytes() == Data("early".utf8))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], ["small", "large", "streamed"])
        func `a response that arrives before the server accepts the body is returned after the upload`(
            _ delivery: HTTPRequest.Delivery,
            _ kind: String
        ) async throws {
            let server = try lab.serve(window: 1000) { event in
                switch event {
                case .head(let stream, _): HTTP2Frame.answer("early", to: stream) + [.ping]
                case .pong: [.window(1 << 20, of: 1)]
                default: []
                }
            }
            let body: HTTPBody =
                switch kind {
                case "small": .data(.pattern(20_000))
                case "large": .data(.pattern(200_000))
                default: .pieces([.pattern(20_000)])
                }

            let response = try await lab.send(try lab.request(to: server, method: .post, body: body, delivery))

            #expect(try await response.bytes() == Data("early".utf8))
        }
    }
#endif
