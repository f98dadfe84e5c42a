#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import Testing

    /// Bodies that go up over HTTP/2, where a response may be whole before them.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct HTTP2UploadTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        @Test(arguments: [true, false])
        func `a streamed body arrives, its length known or not`(_ isLengthKnown: Bool) async throws {
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
        func `a refusal ends an upload whose body has nothing to give`(_ delivery: HTTPRequest.Delivery) async throws {
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
        func `a refusal ends an upload in the midst of its body`(_ delivery: HTTPRequest.Delivery) async throws {
            let received = Locked(0)
            let server = try lab.serve { event in
                switch event {
                case .head(let stream, _): return HTTP2Frame.answer("no", to: stream, status: 413)
                case .data(let bytes, let stream, _) where !bytes.isEmpty:
                    received.withLock { $0 += bytes.count }
                    // What libcurl has read of the body already has to go out, and its end too.
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

        @Test func `B30: a server that takes a body slowly is not silent`() async throws {
            try await calm()
            let server = try lab.serve(window: 16_000) { event in
                guard case .data(let bytes, let stream, let ends) = event else { return [] }
                Thread.sleep(forTimeInterval: 0.1)  // The passing of time is what is tested.
                return ends ? HTTP2Frame.answer("ok", to: stream) : [.window(UInt32(bytes.count), of: stream)]
            }
            // libcurl asks for it once, and sends it for one and a half seconds.
            var request = try lab.request(to: server, method: .put, body: .data(.pattern(250_000)))
            request.timeouts.idle = .milliseconds(900)

            #expect(try await lab.send(request).status == 200)
        }

        // In a process of its own, where no one else takes time of the processor.
        @Test func `an upload that waits for the server leaves the processor alone`() async throws {
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

                // A loop that is kept busy takes all of it.
                #expect(Double(clock() - before) / Double(CLOCKS_PER_SEC) < 0.15)
                upload.cancel()
            }
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a refusal of known length ends an upload that the server does not take`(
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let received = Locked(0)
            let server = try lab.serve(window: 100_000) { event in
                guard case .data(let bytes, let stream, _) = event else { return [] }
                let count = received.withLock { count in
                    count += bytes.count
                    return count
                }
                // Then the client has sent all it may.
                return count < 100_000 ? [] : HTTP2Frame.measuredAnswer("no", to: stream, status: 413)
            }
            let body = HTTPBody.data(.pattern(20_000_000))

            let response = try await lab.send(try lab.request(to: server, method: .put, body: body, delivery))

            #expect(response.status == 413)
            #expect(try await response.bytes() == Data("no".utf8))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], [true, false])
        func `a response that is complete by its length does not stop the body after it`(
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
        func `a response stays although the server resets the stream of the body after it`(
            _ delivery: HTTPRequest.Delivery,
            _ code: HTTP2Frame.Code
        ) async throws {
            let server = try lab.serve { event in
                switch event {
                case .head(let stream, _): HTTP2Frame.measuredAnswer("enough", to: stream, status: 200) + [.ping]
                // Not at once: libcurl 7.88 loses a response that it reads together with the reset.
                case .pong: [.reset(1, code)]
                default: []
                }
            }
            let body = HTTPBody.data(.pattern(20_000_000))

            let response = try await lab.send(try lab.request(to: server, method: .put, body: body, delivery))

            #expect(try await response.bytes() == Data("enough".utf8))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a response that ends short of its length is truncated`(_ delivery: HTTPRequest.Delivery) async throws {
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

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], [true, false])
        func `a response that comes before the body has ended is taken when it has`(
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
        func `a response that comes before the server takes the body is taken when it has`(
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
