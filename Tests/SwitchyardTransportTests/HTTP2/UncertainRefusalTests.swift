#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    /// Signals of an HTTP/2 server that are not a proper refusal: the request may have been processed.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct UncertainRefusalTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        /// A server that responds to its first stream and refuses later ones.
        private func refusing() throws -> HTTP2Server {
            try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return stream == 1 ? HTTP2Frame.answer("first", to: 1) : [.reset(stream, .refusedStream)]
            }
        }

        /// An HTTP/1.1 server that reads a request, counts it, and closes the connection.
        private func silent1(_ count: Locked<Int>) throws -> HTTP1Server {
            try lab.serveHTTP1 { count.withLock { $0 += 1 } }
        }

        /// A server that reads each request, counts it, and closes the connection.
        private func silent(_ count: Locked<Int>) throws -> HTTP2Server {
            try lab.serve { event in
                guard case .head = event else { return [] }
                count.withLock { $0 += 1 }
                return nil
            }
        }

        @Test func `if a request is refused and its second connection is then lost, the request may have been sent`()
            async throws
        {
            let count = Locked(0)
            let servers = [try silent1(count), try silent1(count)]
            let first = try refusing()
            let relay = try TCPRelay(to: [first.url] + servers.map(\.url))
            _ = try await lab.send(try lab.request(at: relay.url))

            let error = await lab.failure(of: try lab.request(at: relay.url, method: .post))

            #expect(error?.mayHaveBeenSent == true)
            #expect(count.withLock { $0 } == 1)
        }

        @Test func `the refusal of an earlier request does not apply to a later request`() async throws {
            let count = Locked(0)
            let answering = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return HTTP2Frame.answer("second", to: stream) + [.goAway(last: stream)]
            }
            let silent = [try silent1(count), try silent1(count), try silent1(count)]
            let first = try refusing()
            let relay = try TCPRelay(to: [first.url, answering.url] + silent.map(\.url))
            _ = try await lab.send(try lab.request(at: relay.url))
            _ = try await lab.send(try lab.request(at: relay.url))

            let error = await lab.failure(of: try lab.request(at: relay.url, method: .post))

            #expect(error?.mayHaveBeenSent == true)
            #expect(count.withLock { $0 } == 1)
        }

        @Test(arguments: [103, 200])
        func `a request whose response has begun is not sent again over HTTP/1.1`(status: Int) async throws {
            let first = try lab.serve { event in
                switch event {
                case .head(let stream, _): [.head([":status": "\(status)"], of: stream), .ping]
                case .pong: [.reset(1, .http11Required)]
                default: []
                }
            }
            let second = try lab.serveHTTP1("second")
            let relay = try TCPRelay(to: [first.url, second.url])

            let error = await lab.failure(of: try lab.request(at: relay.url, method: .post))

            #expect(error?.mayHaveBeenSent == true)
            #expect(relay.connections == 1)
        }

        @Test(arguments: [HTTP2Frame.Code.none, .internalError, .cancel, .enhanceYourCalm])
        func `a request whose stream is reset on a kept-alive connection may have been processed`(code: HTTP2Frame.Code)
            async throws
        {
            let count = Locked(0)
            let first = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return stream == 1 ? HTTP2Frame.answer("first", to: 1) : [.reset(stream, code)]
            }
            let relay = try TCPRelay(to: [first.url, try silent(count).url])
            _ = try await lab.send(try lab.request(at: relay.url))

            let error = await lab.failure(of: try lab.request(at: relay.url, method: .post))

            #expect(error?.mayHaveBeenSent == true)
            #expect(count.withLock { $0 } == 0)
        }

        @Test(arguments: [true, false])
        func `a request whose stream is within the last stream ID of a GOAWAY may have been processed`(closes: Bool)
            async throws
        {
            let count = Locked(0)
            let first = try lab.serve { event in
                guard case .head(let stream, _) = event else { return closes ? nil : [] }
                if stream == 1 { return HTTP2Frame.answer("first", to: 1) }
                return [.goAway(last: stream), .reset(stream, .internalError), .ping]
            }
            let relay = try TCPRelay(to: [first.url, try silent(count).url])
            _ = try await lab.send(try lab.request(at: relay.url))

            let error = await lab.failure(of: try lab.request(at: relay.url, method: .post))

            #expect(error?.mayHaveBeenSent == true)
            #expect(count.withLock { $0 } == 0)
        }
    }
#endif
