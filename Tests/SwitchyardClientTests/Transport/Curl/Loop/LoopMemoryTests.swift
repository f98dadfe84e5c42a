#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardClient
    import SwitchyardTesting
    import Testing

    /// What the thread of a loop keeps of the buffers that libcurl gives back.
    @Suite(.timeLimit(.minutes(5))) struct LoopMemoryTests {
        /// What libcurl asks for to receive a response.
        private static let buffer = 16_385

        /// Runs work on a thread of its own on which a loop has begun.
        private func onLoop<Value: Sendable>(
            _ work: @escaping @Sendable (_ loop: OpaquePointer) throws -> Value
        ) async throws -> Value {
            try #require(ycurl_open() == YCURL_AVAILABLE.rawValue)
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            guard let loop = ycurl_loop_create() else { throw POSIXError(.ENOMEM) }
                            defer { ycurl_loop_destroy(loop) }
                            ycurl_loop_begin(loop)
                            return try work(loop)
                        }
                    )
                }
            }
        }

        private static func takeAndGiveBack(_ number: Int, of count: Int = Self.buffer) {
            let pieces = (0..<number).map { _ in ycurl_malloc(count) }
            for piece in pieces { ycurl_free(piece) }
        }

        @Test func `a buffer that is given back is the next one`() async throws {
            let isSame = try await onLoop { _ in
                let first = ycurl_malloc(Self.buffer)
                ycurl_free(first)
                let second = ycurl_malloc(Self.buffer)
                defer { free(second) }  // As a host program does with what libcurl has given it.
                return second == first
            }

            #expect(isSame)
        }

        @Test(arguments: [1, 1_000, 16_000, 17_000, 65_537]) func `nothing is kept of another size`(
            count: Int
        ) async throws {
            let kept = try await onLoop { _ in
                Self.takeAndGiveBack(100, of: count)
                return ycurl_kept_buffers()
            }

            #expect(kept == 0)
        }

        @Test func `a mebibyte is kept where nothing runs`() async throws {
            let (few, most) = try await onLoop { loop in
                Self.takeAndGiveBack(10)
                ycurl_loop_push(loop)
                let few = ycurl_kept_buffers()
                Self.takeAndGiveBack(200)
                ycurl_loop_push(loop)
                return (few, ycurl_kept_buffers())
            }

            #expect(few == 10)
            #expect(most == 64)
        }

        @Test func `all is given back when the connections are closed, and at the end`() async throws {
            let (before, closed, again, ended) = try await onLoop { loop in
                Self.takeAndGiveBack(1)
                let before = ycurl_kept_buffers()
                ycurl_loop_close_connections(loop)
                let closed = ycurl_kept_buffers()
                Self.takeAndGiveBack(1)
                let again = ycurl_kept_buffers()
                ycurl_loop_end(loop)
                Self.takeAndGiveBack(1)
                return (before, closed, again, ycurl_kept_buffers())
            }

            #expect((before, closed) == (1, 0))
            #expect((again, ended) == (1, 0))
        }

        @Test func `the end of another loop takes nothing from this one`() async throws {
            let kept = try await onLoop { _ in
                Self.takeAndGiveBack(1)
                ycurl_loop_destroy(ycurl_loop_create())
                return ycurl_kept_buffers()
            }

            #expect(kept == 1)
        }

        @Test func `a thread without a loop keeps nothing`() async throws {
            let kept = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    Self.takeAndGiveBack(1)
                    continuation.resume(returning: ycurl_kept_buffers())
                }
            }

            #expect(kept == 0)
        }

        // MARK: Of a transport

        /// How many a transport's thread keeps at the end of each request, of so many that wait at once.
        private func kept(after count: Int) async throws -> [Int] {
            let server = LoopbackServer()
            let gate = Latch()
            server.route(.get, "/held") { _ in
                await gate.wait()
                return .text("held")
            }
            try server.start()
            let transport = try CurlTransport()
            let url = try #require(RequestURL(server.baseURL + "/held"))
            let (counts, report) = AsyncStream.makeStream(of: Int.self)
            for _ in 0..<count {
                _ = transport.start(HTTPRequest(url: url), progress: nil) { result in
                    #expect(throws: Never.self) { try result.get() }
                    report.yield(ycurl_kept_buffers())
                }
            }
            #expect(await server.waitForRequests(count))
            gate.open()
            return await counts.prefix(count).reduce(into: []) { $0.append($1) }
        }

        private static let hasBufferForEach = ycurl_open() == YCURL_AVAILABLE.rawValue && ycurl_version() < 0x08_0000

        @Test(.enabled(if: hasBufferForEach, "a newer libcurl has one buffer for all requests"))
        func `a transport keeps the buffer of a request that has ended`() async throws {
            let kept = try await kept(after: 1)

            #expect(kept == [1])
        }

        @Test func `after many requests at once a transport keeps a mebibyte at most`() async throws {
            let kept = try await kept(after: 300)

            #expect(try #require(kept.last) <= 64)
        }
    }
#endif
