#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    /// Connections that stay open but no longer respond.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct SilentConnectionTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        /// A server that responds to every request with a text.
        private func serve(_ text: String) throws -> HTTP2Server {
            try lab.serve { event in
                if case .head(let stream, _) = event { HTTP2Frame.answer(text, to: stream) } else { [] }
            }
        }

        /// A server that responds to the first request only.
        private func serveOnce() throws -> HTTP2Server {
            try lab.serve { event in
                if case .head(1, _) = event { HTTP2Frame.answer("first", to: 1) } else { [] }
            }
        }

        private func text(_ request: HTTPRequest) async throws -> String {
            String(decoding: try await lab.send(request).bytes(), as: UTF8.self)
        }

        @Test(arguments: [
            HTTPRequest.Timeouts(total: .milliseconds(200)), HTTPRequest.Timeouts(idle: .milliseconds(200)),
        ])
        func `a connection on which a request timed out without data is not reused`(
            _ timeouts: HTTPRequest.Timeouts
        ) async throws {
            let servers = [try serveOnce(), try serve("second")]
            let relay = try TCPRelay(to: servers.map(\.url))
            _ = try await lab.send(try lab.request(at: relay.url))
            var request = try lab.request(at: relay.url)
            request.timeouts = timeouts

            #expect(await lab.failure(of: request)?.kind == .timeout)

            #expect(try await text(try lab.request(at: relay.url)) == "second")
            #expect(try await text(try lab.request(at: relay.url)) == "second")
            #expect(relay.connections == 2)
        }

        @Test func `a connection on which a request was cancelled after a long silence is not reused`() async throws {
            let isAsked = Latch()
            let silent = try lab.serve { event in
                if case .head(1, _) = event { return HTTP2Frame.answer("first", to: 1) }
                if case .head = event { isAsked.open() }
                return []
            }
            let servers = [silent, try serve("second")]
            let relay = try TCPRelay(to: servers.map(\.url))
            _ = try await lab.send(try lab.request(at: relay.url))
            let request = try lab.request(at: relay.url)
            let waiting = Task { [lab] in try await lab.send(request) }
            await isAsked.wait()
            try await Task.sleep(for: .milliseconds(700))  // The silence is part of the test.

            waiting.cancel()
            _ = await waiting.result

            #expect(try await text(try lab.request(at: relay.url)) == "second")
        }

        @Test func `active requests on a silent connection continue, and new requests avoid it until data arrives`()
            async throws
        {
            let hasPatient = Latch()
            let silent = try lab.serve { event in
                switch event {
                case .head(1, _): return HTTP2Frame.answer("first", to: 1)
                case .head(3, _):
                    hasPatient.open()
                    return []
                case .head(5, _):
                    Thread.sleep(forTimeInterval: 1)  // The silence is part of the test.
                    return HTTP2Frame.answer("late", to: 3)
                default: return []
                }
            }
            let servers = [silent, try serve("second")]
            let relay = try TCPRelay(to: servers.map(\.url))
            _ = try await lab.send(try lab.request(at: relay.url))
            let patient = try lab.request(at: relay.url)
            async let late = text(patient)
            await hasPatient.wait()
            var request = try lab.request(at: relay.url)
            request.timeouts.total = .milliseconds(300)

            #expect(await lab.failure(of: request)?.kind == .timeout)

            #expect(try await text(try lab.request(at: relay.url)) == "second")
            #expect(try await late == "late")
        }

        @Test func `a connection on which a request timed out is kept if other requests still received data`()
            async throws
        {
            let server = try lab.serve { event in
                switch event {
                case .head(1, _), .head(7, _): HTTP2Frame.answer("kept", to: event.stream)
                case .head(3, _): [.head([":status": "200"], of: 3)]
                case .head(5, _): [.data("more", of: 3, ends: false)]
                default: []
                }
            }
            let relay = try TCPRelay(to: [server.url])
            _ = try await lab.send(try lab.request(at: relay.url))
            let stream = try await lab.send(try lab.request(at: relay.url, .stream))
            var request = try lab.request(at: relay.url)
            request.timeouts.total = .milliseconds(200)

            #expect(await lab.failure(of: request)?.kind == .timeout)

            #expect(try await text(try lab.request(at: relay.url)) == "kept")
            #expect(relay.connections == 1)
            withExtendedLifetime(stream) {}
        }

        @Test func `a silent connection is reused after data arrives on it again`() async throws {
            let server = try lab.serve { event in
                switch event {
                case .head(1, _), .head(7, _): return HTTP2Frame.answer("kept", to: event.stream)
                case .head(3, _): return [.head([":status": "200"], of: 3)]
                case .head(5, _):
                    Thread.sleep(forTimeInterval: 0.5)  // The silence is part of the test.
                    return [.data("more", of: 3, ends: false)]
                default: return []
                }
            }
            let relay = try TCPRelay(to: [server.url])
            _ = try await lab.send(try lab.request(at: relay.url))
            let response = try await lab.send(try lab.request(at: relay.url, .stream))
            guard case .stream(let body) = response.body else { return #expect(Bool(false)) }
            var pieces = body.makeAsyncIterator()
            var request = try lab.request(at: relay.url)
            request.timeouts.total = .milliseconds(200)
            #expect(await lab.failure(of: request)?.kind == .timeout)

            #expect(try await pieces.next() == Data("more".utf8))

            #expect(try await text(try lab.request(at: relay.url)) == "kept")
            #expect(relay.connections == 1)
            withExtendedLifetime(pieces) {}
        }

        @Test func `a request with needsNewConnection uses a new connection`() async throws {
            let servers = [try serve("first"), try serve("second")]
            let relay = try TCPRelay(to: servers.map(\.url))
            _ = try await lab.send(try lab.request(at: relay.url))
            var request = try lab.request(at: relay.url)
            request.needsNewConnection = true

            #expect(try await text(request) == "second")
        }
    }

    extension HTTP2Server.Event {
        fileprivate var stream: UInt32 {
            switch self {
            case .head(let stream, _), .data(_, let stream, _), .reset(let stream): stream
            case .pong: 0
            }
        }
    }
#endif
