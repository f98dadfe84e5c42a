#if os(Linux)
    import CLibcurl
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// Which freed libcurl memory a loop's thread keeps.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct LoopMemoryTests {
        /// The size of libcurl's receive buffer.
        private static let buffer = 16_385

        /// Runs work on its own thread, on which a loop has started.
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

        @Test(arguments: [24, 40, 1_000, 1_496])
        func `a freed memory block is reused for the next allocation of its size`(
            count: Int
        ) async throws {
            let isSame = try await onLoop { _ in
                let first = ycurl_malloc(count)
                ycurl_free(first)
                // The capacity of the block, which is larger than requested if malloc rounded up.
                let second = ycurl_malloc(ycurl_kept_bytes())
                defer { free(second) }  // As a host program does with memory from libcurl.
                return second == first
            }

            #expect(isSame)
        }

        @Test func `a freed receive buffer is used again for the next receive buffer`() async throws {
            let isSame = try await onLoop { _ in
                let first = ycurl_malloc(Self.buffer)
                ycurl_free(first)
                let second = ycurl_malloc(Self.buffer)
                defer { ycurl_free(second) }
                return second == first
            }

            #expect(isSame)
        }

        @Test func `a reused memory block has room for every requested size`() async throws {
            try await onLoop { _ in
                var random = SystemRandomNumberGenerator()
                var pieces: [(bytes: UnsafeMutableRawPointer, count: Int, mark: UInt8)] = []
                for round in 0..<20_000 {
                    if pieces.count > 100 || (round.isMultiple(of: 3) && !pieces.isEmpty) {
                        let piece = pieces.remove(at: Int.random(in: pieces.indices, using: &random))
                        let bytes = UnsafeRawBufferPointer(start: piece.bytes, count: piece.count)
                        #expect(bytes.allSatisfy { $0 == piece.mark })
                        ycurl_free(piece.bytes)
                    } else {
                        let count = Int.random(in: 0...(round.isMultiple(of: 10) ? 20_000 : 200), using: &random)
                        let bytes = try #require(ycurl_malloc(count))
                        let mark = UInt8.random(in: .min ... .max, using: &random)
                        bytes.initializeMemory(as: UInt8.self, repeating: mark, count: count)
                        pieces.append((bytes, count, mark))
                    }
                }
                for piece in pieces { ycurl_free(piece.bytes) }
            }
        }

        @Test func `a memory block that grows keeps its contents`() async throws {
            try await onLoop { _ in
                Self.takeAndGiveBack(1, of: 256)
                Self.takeAndGiveBack(1)
                var piece = try #require(ycurl_realloc(nil, 32))
                piece.initializeMemory(as: UInt8.self, repeating: 7, count: 32)
                for count in [33, 64, 256, 257, 2_000, 3_000, Self.buffer, 40_000, 50] {
                    piece = try #require(ycurl_realloc(piece, count))
                    #expect(UnsafeRawBufferPointer(start: piece, count: 32).allSatisfy { $0 == 7 })
                    (piece + count - 1).storeBytes(of: 7, as: UInt8.self)
                }
                ycurl_free(piece)
            }
        }

        @Test func `calloc returns zeroed memory, and strdup copies the whole string`() async throws {
            try await onLoop { _ in
                let used = try #require(ycurl_malloc(1_496))
                used.initializeMemory(as: UInt8.self, repeating: 7, count: 1_496)
                ycurl_free(used)
                let room = ycurl_kept_bytes()
                let clear = try #require(ycurl_calloc(1, room))
                #expect(clear == used)
                #expect(UnsafeRawBufferPointer(start: clear, count: room).allSatisfy { $0 == 0 })
                let copy = try #require(ycurl_strdup("switchyard"))
                #expect(String(cString: copy) == "switchyard")
                #expect(ycurl_calloc(Int.max, 16) == nil)
                ycurl_free(nil)
                ycurl_free(clear)
                ycurl_free(copy)
            }
        }

        @Test(arguments: [5_000, 16_000, 17_000, 65_537]) func `freed memory blocks of rare sizes are not kept`(
            count: Int
        ) async throws {
            let kept = try await onLoop { _ in
                Self.takeAndGiveBack(100, of: count)
                return ycurl_kept_bytes()
            }

            #expect(kept == 0)
        }

        @Test func `up to sixty-four free memory blocks of each small size are kept`()
            async throws
        {
            let (one, both) = try await onLoop { _ in
                Self.takeAndGiveBack(200, of: 1_000)
                let one = ycurl_kept_bytes()
                Self.takeAndGiveBack(10, of: 504)
                return (one, ycurl_kept_bytes())
            }

            #expect((64 * 1_000..<140 * 1_000).contains(one))
            #expect((10 * 504...10 * 520).contains(both - one))
        }

        @Test func `at most a mebibyte of receive buffers is kept while no exchange runs`() async throws {
            let (few, most) = try await onLoop { loop in
                Self.takeAndGiveBack(10)
                ycurl_loop_push(loop)
                let few = ycurl_kept_bytes()
                Self.takeAndGiveBack(200)
                ycurl_loop_push(loop)
                return (few, ycurl_kept_bytes())
            }

            #expect((few, most) == (10 * Self.buffer, 64 * Self.buffer))
        }

        /// Starts an exchange on the loop with a server that does not respond.
        private static func start(_ url: String, on loop: OpaquePointer) throws -> OpaquePointer {
            let exchange = try #require(ycurl_exchange_create(loop))
            var form = ycurl_request()
            form.body_file = -1
            form.body_limit = -1
            form.head_limit = 1024
            form.connect_deadline = .max
            form.deadline = .max
            let code = url.withCString { url in
                "GET".withCString { method in
                    form.url = url
                    form.method = method
                    return ycurl_prepare(exchange, &form)
                }
            }
            try #require(code == 0)
            try #require(ycurl_loop_add(loop, exchange) == 0)
            return exchange
        }

        @Test func `one more free receive buffer is kept for each running exchange`() async throws {
            let listener = try TCPListener()
            let (during, after) = try await onLoop { loop in
                let url = "http://127.0.0.1:\(listener.port)/"
                let exchanges = try (0..<40).map { _ in try Self.start(url, on: loop) }
                Self.takeAndGiveBack(200)
                ycurl_loop_push(loop)
                let during = ycurl_kept_bytes()
                for exchange in exchanges { ycurl_loop_discard(loop, exchange) }
                ycurl_loop_push(loop)
                return (during, ycurl_kept_bytes())
            }

            #expect(during >= 104 * Self.buffer)
            #expect((64 * Self.buffer..<104 * Self.buffer).contains(after))
        }

        @Test func `kept memory blocks are freed when the connections are closed and when the event loop ends`()
            async throws
        {
            let (before, closed, again, ended) = try await onLoop { loop in
                Self.takeAndGiveBack(1)
                let before = ycurl_kept_bytes()
                ycurl_loop_close_connections(loop)
                let closed = ycurl_kept_bytes()
                Self.takeAndGiveBack(1)
                let again = ycurl_kept_bytes()
                ycurl_loop_end(loop)
                Self.takeAndGiveBack(1)
                return (before, closed, again, ycurl_kept_bytes())
            }

            #expect(min(before, again) >= Self.buffer)
            #expect(closed < before)
            #expect(ended == 0)
        }

        @Test func `the end of one event loop does not free the memory blocks of another event loop`()
            async throws
        {
            let kept = try await onLoop { _ in
                let other = ycurl_loop_create()
                Self.takeAndGiveBack(1)
                ycurl_loop_destroy(other)
                return ycurl_kept_bytes()
            }

            #expect(kept >= Self.buffer)
        }

        @Test func `a thread without an event loop keeps no memory blocks`() async throws {
            let kept = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    Self.takeAndGiveBack(1)
                    continuation.resume(returning: ycurl_kept_bytes())
                }
            }

            #expect(kept == 0)
        }

        // MARK: Memory of a transport

        /// The bytes that a transport's thread keeps at the end of each of `count` concurrent requests.
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
                    report.yield(ycurl_kept_bytes())
                }
            }
            #expect(await server.waitForRequests(count))
            gate.open()
            return await counts.prefix(count).reduce(into: []) { $0.append($1) }
        }

        private static let hasBufferForEach = ycurl_open() == YCURL_AVAILABLE.rawValue && ycurl_version() < 0x08_0000

        @Test(.enabled(if: hasBufferForEach, "a newer libcurl has one buffer for all requests"))
        func `a transport keeps the receive buffer of a request that has ended`() async throws {
            let kept = try await kept(after: 1)

            #expect(try #require(kept.first) >= Self.buffer)
        }

        @Test(.startsProcess) func `a libcurl that the host program has initialized keeps its allocator and works`()
            async
        {
            await #expect(processExitsWith: .success) {
                typealias Initialize = @convention(c) (Int) -> Int32
                let symbol = try #require(dlsym(dlopen("libcurl.so.4", RTLD_NOW), "curl_global_init"))
                try #require(unsafeBitCast(symbol, to: Initialize.self)(3) == 0)

                #expect(try await LoopMemoryTests().kept(after: 3) == [0, 0, 0])
            }
        }

        @Test func `a transport keeps no more memory after many concurrent requests than after a few`() async throws {
            let kept = try await kept(after: 300)

            #expect(try #require(kept.last) < 2 << 20)
        }
    }
#endif
