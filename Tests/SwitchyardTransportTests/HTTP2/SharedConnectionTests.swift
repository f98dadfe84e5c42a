#if os(Linux)
    import Dispatch
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTransport
    import Testing

    /// Requests to an HTTP/2 server share one connection, also if they start before it is open.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct SharedConnectionTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        /// A server that responds to every request.
        private func serve() throws -> HTTP2Server {
            try lab.serve { event in
                if case .head(let stream, _) = event { HTTP2Frame.answer("ok", to: stream) } else { [] }
            }
        }

        /// Sends concurrent requests and returns the number of responses.
        private func send(_ count: Int, to url: String, method: HTTPMethod = .get) async throws -> Int {
            let requests = try (0..<count).map { _ in try lab.request(at: url, method: method) }
            return await withTaskGroup(of: Bool.self) { group in
                for request in requests { group.addTask { [lab] in (try? await lab.send(request))?.status == 200 } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
        }

        @Test(arguments: [HTTPMethod.get, .post])
        func `the first requests to a server share one connection`(_ method: HTTPMethod) async throws {
            let server = try serve()
            let relay = try TCPRelay(to: [server.url], count: 40)

            #expect(try await send(32, to: relay.url, method: method) == 32)

            #expect(relay.connections == 1)
        }

        @Test func `requests beyond the server's limit of streams share a second connection`() async throws {
            let held = Locked(0)
            let areHeld = Latch()
            let full = try lab.serve(streams: 2) { event in
                guard case .head(let stream, _) = event else { return [] }
                if stream == 1 { return HTTP2Frame.answer("first", to: 1) }
                let count = held.withLock { count in
                    count += 1
                    return count
                }
                if count == 2 { areHeld.open() }
                return []
            }
            let next = try serve()
            let relay = try TCPRelay(to: [full.url, next.url], count: 40)
            _ = try await lab.send(try lab.request(at: relay.url))
            let waiting = Task { try await send(2, to: relay.url) }
            await areHeld.wait()

            #expect(try await send(20, to: relay.url) == 20)

            #expect(relay.connections == 2)
            waiting.cancel()
        }

        @Test func `the first requests after a GOAWAY share one new connection`() async throws {
            let leaving = try lab.serve { event in
                switch event {
                case .head(1, _): HTTP2Frame.answer("first", to: 1) + [.goAway(last: 1), .ping]
                default: []
                }
            }
            let next = try serve()
            let relay = try TCPRelay(to: [leaving.url, next.url], count: 40)
            _ = try await lab.send(try lab.request(at: relay.url))

            #expect(try await send(20, to: relay.url) == 20)

            #expect(relay.connections == 2)
        }

        @Test func `if some handshakes hang, all requests are sent over a connection that is ready`() async throws {
            let end = DispatchSemaphore(value: 0)
            let server = try serve()
            // Only one further connection is ready; the requests on the others move to it.
            let relay = try TCPRelay(to: [server.url, server.url], count: 40) { index in
                if index != 1 { end.wait() }
                return index == 1
            }
            defer { for _ in 0..<40 { end.signal() } }

            #expect(try await send(8, to: relay.url) == 8)
        }

        @Test func `if the connection for which requests wait fails, the requests open connections of their own`()
            async throws
        {
            let end = DispatchSemaphore(value: 0)
            let server = try serve()
            let relay = try TCPRelay(to: [server.url, server.url], count: 40) { index in
                if index > 1 { end.wait() }
                return index == 1
            }
            defer { for _ in 0..<40 { end.signal() } }

            #expect(try await send(8, to: relay.url) == 7)
        }

        @Test func `requests that wait for a connection continue if the request that opens it is cancelled`()
            async throws
        {
            let isOpened = Latch()
            let end = DispatchSemaphore(value: 0)
            let server = try serve()
            let relay = try TCPRelay(to: [server.url, server.url], count: 40) { index in
                if index == 0 { isOpened.open() }
                if index != 1 { end.wait() }
                return index == 1
            }
            defer { for _ in 0..<40 { end.signal() } }
            let request = try lab.request(at: relay.url)
            let first = Task { [lab] in try await lab.send(request) }
            await isOpened.wait()
            async let others = send(4, to: relay.url)

            first.cancel()

            await #expect(throws: TransportError.self) { try await first.value }
            #expect(try await others == 4)
        }

        @Test func `after one handshake with an HTTP/1.1 server, each waiting request opens its own connection`()
            async throws
        {
            let servers = try (0..<4).map { _ in try lab.serveHTTP1("ok") }
            let relay = try TCPRelay(to: servers.map(\.url))

            #expect(try await send(4, to: relay.url) == 4)

            #expect(relay.connections == 4)
        }

        @Test(arguments: [false, true])
        func `requests to a server that has responded over HTTP/1.1 do not wait`(_ isRetired: Bool) async throws {
            // A wait would take 300 ms in each attempt.
            var shortest = Duration.seconds(60)
            for _ in 0..<20 where shortest >= .milliseconds(250) {
                let end = DispatchSemaphore(value: 0)
                let isHeld = Latch()
                let servers = try (0..<3).map { _ in try lab.serveHTTP1("ok") }
                let relay = try TCPRelay(to: servers.map(\.url)) { index in
                    if index == 1 { isHeld.open() }
                    if index == 1 { end.wait() }
                    return index != 1
                }
                defer { end.signal() }
                let fresh = try HTTP2Lab()
                let request = try fresh.request(at: relay.url)
                _ = try await fresh.send(request)
                if isRetired { fresh.retireConnections() }
                let held = Task { try? await fresh.send(request) }
                await isHeld.wait()

                let start = ContinuousClock.now
                _ = try await fresh.send(request)
                shortest = min(shortest, ContinuousClock.now - start)
                held.cancel()
            }
            #expect(shortest < .milliseconds(250))
        }

        @Test func `requests do not wait for a server that chose HTTP/1.1 and has not responded yet`() async throws {
            // A wait would take 300 ms in each attempt.
            var shortest = Duration.seconds(60)
            for _ in 0..<20 where shortest >= .milliseconds(250) {
                let (end, isRead, isHeld) = (DispatchSemaphore(value: 0), Latch(), Latch())
                let silent = try lab.serveHTTP1(hangingUpAfter: {
                    isRead.open()
                    end.wait()
                })
                let servers = [silent] + (try (0..<2).map { _ in try lab.serveHTTP1("ok") })
                let relay = try TCPRelay(to: servers.map(\.url)) { index in
                    if index == 1 { isHeld.open() }
                    if index == 1 { end.wait() }
                    return index != 1
                }
                defer { for _ in 0..<2 { end.signal() } }
                let fresh = try HTTP2Lab()
                let request = try fresh.request(at: relay.url)
                let poll = Task { try? await fresh.send(request) }
                await isRead.wait()
                let held = Task { try? await fresh.send(request) }
                await isHeld.wait()

                let start = ContinuousClock.now
                #expect(try await fresh.send(request).status == 200)
                shortest = min(shortest, ContinuousClock.now - start)
                poll.cancel()
                held.cancel()
            }
            #expect(shortest < .milliseconds(250))
        }

        /// A server that refuses a stream while another stream is open, and responds to the other streams.
        private func serveOneStreamAtATime() throws -> HTTP2Server {
            let open = Locked<UInt32?>(nil)
            return try lab.serve(streams: 1) { event in
                open.withLock { open in
                    switch event {
                    case .head(let stream, _) where open != nil: return [.reset(stream, .refusedStream)]
                    case .head(let stream, _): open = stream
                    case .data(_, let stream, true) where stream == open:
                        open = nil
                        return HTTP2Frame.answer("ok", to: stream)
                    default: break
                    }
                    return []
                }
            }
        }

        @Test
        func `concurrent streamed uploads succeed even if the server allows only one HTTP/2 stream per connection`()
            async throws
        {
            let openAtOnce = try await isPrompt {
                let (time, results) = try await uploadThreeStreams()
                #expect(results == ["200", "200", "200"])
                return time < .milliseconds(250)  // Shorter than a wait for another upload's connection.
            }
            #expect(openAtOnce)
        }

        /// Uploads three streams at the same time, and returns their results and the time until each of them has a
        /// connection.
        private func uploadThreeStreams() async throws -> (time: Duration, results: [String]) {
            let lab = try HTTP2Lab()
            let servers = try (0..<3).map { _ in try serveOneStreamAtATime() }
            let (lastConnection, areConnected) = (Locked(ContinuousClock.now), DispatchSemaphore(value: 0))
            // No handshake starts before all uploads have connected. Otherwise, a late upload could use a connection
            // whose server has not announced its limit yet.
            let relay = try TCPRelay(to: servers.map(\.url), count: 3) { index in
                if index == 2 {
                    lastConnection.withLock { $0 = ContinuousClock.now }
                    for _ in 0..<3 { areConnected.signal() }
                }
                areConnected.wait()
                return true
            }
            let body = HTTPBody.stream(HTTPBody.Stream(length: nil) { PiecesReader([.pattern(1_000)]) })
            let request = try lab.request(at: relay.url, method: .post, body: body)

            let start = ContinuousClock.now
            let results = await withTaskGroup(of: String.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        do throws(TransportError) {
                            return "\(try await lab.send(request).status)"
                        } catch {
                            return error.description
                        }
                    }
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            return (lastConnection.withLock { $0 } - start, results)
        }

        /// The name of this machine, or `nil` if it has no address.
        ///
        /// An address is not looked up, and neither is `localhost`.
        private static let hostName: String? = {
            let text = try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
            guard let name = text?.filter({ $0 != "\n" }), name != "localhost" else { return nil }
            var found: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(name, nil, nil, &found) == 0 else { return nil }
            freeaddrinfo(found)
            return name
        }()

        @Test(.enabled(if: hostName != nil))
        func `requests that start during the DNS lookup of their host do not fail because of the lookup`() async throws
        {
            let name = try #require(Self.hostName)
            let server = try serve()
            let relay = try TCPRelay(to: [server.url], count: 40)
            // The certificate is for an address, so the requests fail, but not before they are connected.
            let request = try lab.request(at: relay.url.replacing("127.0.0.1", with: name))

            let failures = await withTaskGroup(of: TransportError?.self) { group in
                for _ in 0..<8 { group.addTask { [lab] in await lab.failure(of: request) } }
                return await group.reduce(into: [TransportError.Kind?]()) { $0.append($1?.kind) }
            }

            #expect(failures.count == 8)
            #expect(!failures.contains(.dnsFailure))
        }

        @Test func `a request waits for a shared connection for at most a quarter of its timeout`() async throws {
            let end = DispatchSemaphore(value: 0)
            let server = try serve()
            let relay = try TCPRelay(to: [server.url, server.url], count: 8) { index in
                if index != 1 { end.wait() }
                return index == 1
            }
            defer { for _ in 0..<8 { end.signal() } }
            var request = try lab.request(at: relay.url)
            request.timeouts.connect = .milliseconds(280)
            let requests = [request, request]

            let responses = await withTaskGroup(of: Bool.self) { group in
                for request in requests { group.addTask { [lab] in (try? await lab.send(request)) != nil } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }

            #expect(responses == 2)
        }
    }
#endif
