#if os(Linux)
    import Foundation
    import Glibc

    /// A loop on libcurl's multi interface, as the simplest C program would contain it: one thread,
    /// `curl_multi_perform` and `curl_multi_poll`, with reused handles.
    ///
    /// This loop is the baseline for a transport that uses libcurl. The loop requests compressed responses because the
    /// transport does so too, and the time that libcurl takes to write one more header field is significant.
    ///
    /// @unchecked is sound: a contest measures one contender at a time, so only one task at a time uses the loop.
    final class PlainLoop: @unchecked Sendable {
        /// An easy handle and the buffer for its body.
        private final class Slot {
            let easy: OpaquePointer
            /// The buffer is allocated when the first byte arrives, so that a waiting handle uses only libcurl's own
            /// memory.
            private lazy var body = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
            private var isMade = false
            var count = 0

            init(_ easy: OpaquePointer) {
                self.easy = easy
            }

            deinit {
                if isMade { body.deallocate() }
            }

            func append(_ bytes: UnsafeRawPointer, _ more: Int) {
                isMade = true
                let room = min(more, body.count - count)
                body.baseAddress?.advanced(by: count).copyMemory(from: bytes, byteCount: room)
                count += room
            }
        }

        private let library: PlainCurl
        private let multi: OpaquePointer
        private var slots: [Slot] = []

        init(_ url: String, handles: Int) throws {
            library = try PlainCurl()
            guard let multi = library.multiInit() else { throw BenchmarkError("libcurl created no multi handle") }
            self.multi = multi
            for _ in 0..<handles { try addHandle(url) }
        }

        deinit {
            for slot in slots {
                _ = library.multiRemove(multi, slot.easy)
                library.easyCleanup(slot.easy)
            }
            _ = library.multiCleanup(multi)
        }

        private func addHandle(_ url: String) throws {
            guard let easy = library.easyInit() else { throw BenchmarkError("libcurl created no easy handle") }
            let slot = Slot(easy)
            let context = Unmanaged.passUnretained(slot).toOpaque()
            var code = url.withCString {
                library.setPointer(easy, PlainCurl.url, UnsafeMutableRawPointer(mutating: $0))
            }
            // An empty string requests all encodings that the loaded libcurl supports.
            code |= "".withCString {
                library.setPointer(easy, PlainCurl.acceptEncoding, UnsafeMutableRawPointer(mutating: $0))
            }
            code |= library.setLong(easy, PlainCurl.noSignal, 1)
            code |= library.setPointer(easy, PlainCurl.receiver, context)
            code |= library.setPointer(easy, PlainCurl.owner, context)
            code |= library.setFunction(easy, PlainCurl.receive) { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                Unmanaged<Slot>.fromOpaque(context).takeUnretainedValue().append(bytes, size * count)
                return size * count
            }
            slots.append(slot)
            guard code == 0, library.multiAdd(multi, easy) == 0 else {
                throw BenchmarkError("libcurl rejected a handle")
            }
        }

        /// Repeats requests on every handle for a time.
        ///
        /// - Parameters:
        ///   - seconds: The time in seconds.
        ///   - length: The number of bytes in every response. If `nil`, any number above 0 is accepted.
        /// - Returns: The number of responses.
        /// - Throws: ``BenchmarkError`` if a response is wrong.
        func run(seconds: Double, length: Int?) throws -> Int {
            let end = ContinuousClock.now.advanced(by: .seconds(seconds))
            var done = 0
            while ContinuousClock.now < end {
                try perform()
                var isIdle = true
                while let slot = try finished() {
                    guard slot.count > 0, length == nil || slot.count == length else {
                        throw BenchmarkError("expected a response of \(length ?? 1) bytes, received \(slot.count)")
                    }
                    done += 1
                    isIdle = false
                    slot.count = 0
                    guard library.multiRemove(multi, slot.easy) == 0, library.multiAdd(multi, slot.easy) == 0 else {
                        throw BenchmarkError("libcurl rejected a handle")
                    }
                }
                if isIdle { try wait(100) }
            }
            return done
        }

        /// Sends the requests and waits forever for responses that do not arrive.
        func hold() throws -> Never {
            while true {
                try perform()
                try wait(1_000)
            }
        }

        /// Performs all transfers that can make progress.
        private func perform() throws {
            var running: Int32 = 0
            let code = library.multiPerform(multi, &running)
            guard code == 0 else { throw BenchmarkError("curl_multi_perform returned \(code)") }
        }

        private func wait(_ milliseconds: Int32) throws {
            let code = library.multiPoll(multi, nil, 0, milliseconds, nil)
            guard code == 0 else { throw BenchmarkError("curl_multi_poll returned \(code)") }
        }

        private func finished() throws -> Slot? {
            var left: Int32 = 0
            guard let message = library.multiInfoRead(multi, &left) else { return nil }
            let ended = message.load(as: PlainCurl.Message.self)
            guard let easy = ended.easy, ended.result == 0 else {
                throw BenchmarkError("the transfer failed with libcurl's code \(ended.result)")
            }
            var context: UnsafeMutableRawPointer?
            _ = library.getPointer(easy, PlainCurl.ownerInfo, &context)
            return context.map { Unmanaged<Slot>.fromOpaque($0).takeUnretainedValue() }
        }
    }
#endif
