#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardClient
    import Testing

    /// What libcurl gives back on the thread of a loop, and takes there again.
    @Suite(.timeLimit(.minutes(5))) struct LoopMemoryTests {
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

        @Test func `a piece that is given back is the next of its size`() async throws {
            let isSame = try await onLoop { _ in
                [1, 24, 25, 1000, 1496, 16_385].allSatisfy { count in
                    let first = ycurl_malloc(count)
                    ycurl_free(first)
                    let second = ycurl_malloc(count)
                    defer { ycurl_free(second) }
                    return second == first
                }
            }

            #expect(isSame)
        }

        @Test func `a piece is as large as it was asked for, whatever it was before`() async throws {
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
                for piece in pieces { free(piece.bytes) }  // As a host program does with what libcurl has given it.
            }
        }

        @Test func `cleared memory is clear, a copy whole, and a larger piece keeps what it had`() async throws {
            try await onLoop { _ in
                let used = try #require(ycurl_malloc(1496))
                used.initializeMemory(as: UInt8.self, repeating: 7, count: 1496)
                ycurl_free(used)
                let clear = try #require(ycurl_calloc(8, 187))
                #expect(UnsafeRawBufferPointer(start: clear, count: 1496).allSatisfy { $0 == 0 })
                let copy = try #require(ycurl_strdup("switchyard"))
                let grown = try #require(ycurl_realloc(copy, 30_000))
                #expect(String(cString: grown.assumingMemoryBound(to: CChar.self)) == "switchyard")
                #expect(ycurl_calloc(Int.max, 16) == nil)
                ycurl_free(nil)
                for piece in [clear, grown, try #require(ycurl_realloc(nil, 10))] { ycurl_free(piece) }
            }
        }

        @Test func `no more is kept than a mebibyte, and nothing of a large piece`() async throws {
            let (most, large) = try await onLoop { _ in
                let pieces = (0..<200).map { _ in ycurl_malloc(16_385) }
                for piece in pieces { ycurl_free(piece) }
                let most = ycurl_kept_bytes()
                ycurl_free(ycurl_malloc(100_000))
                return (most, ycurl_kept_bytes() - most)
            }

            #expect(most > 1_000_000)
            #expect(most <= 1 << 20)
            #expect(large == 0)
        }

        @Test func `all is given back when the connections are closed, and at the end`() async throws {
            let (before, closed, again, ended) = try await onLoop { loop in
                ycurl_free(ycurl_malloc(100))
                let before = ycurl_kept_bytes()
                ycurl_loop_close_connections(loop)
                let closed = ycurl_kept_bytes()
                ycurl_free(ycurl_malloc(100))
                let again = ycurl_kept_bytes()
                ycurl_loop_end(loop)
                ycurl_free(ycurl_malloc(100))
                return (before, closed, again, ycurl_kept_bytes())
            }

            #expect(before >= 100)
            #expect(again >= 100)
            #expect(closed < before)
            #expect(ended == 0)
        }

        @Test func `the end of another loop takes nothing from this one`() async throws {
            let (before, after) = try await onLoop { _ in
                ycurl_free(ycurl_malloc(16_385))
                let before = ycurl_kept_bytes()
                ycurl_loop_destroy(ycurl_loop_create())
                return (before, ycurl_kept_bytes())
            }

            #expect(before > 16_000)
            #expect(after >= before - 1024)  // What the other loop was made of came from here.
        }

        @Test func `a thread without a loop keeps nothing`() async throws {
            let kept = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    ycurl_free(ycurl_malloc(100))
                    continuation.resume(returning: ycurl_kept_bytes())
                }
            }

            #expect(kept == 0)
        }
    }
#endif
