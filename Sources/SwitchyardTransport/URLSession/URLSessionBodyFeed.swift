#if canImport(Darwin)
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// Writes a streamed body into the stream that `URLSession` reads, without blocking a thread.
    ///
    /// `@unchecked Sendable` is sound. `output`, `pending` and all other mutable state are accessed only on `queue`,
    /// and the stream calls its delegate on `queue` too.
    final class URLSessionBodyFeed: NSObject, StreamDelegate, @unchecked Sendable {
        private static let bufferSize = 256 << 10

        /// The stream that `URLSession` reads.
        let input: InputStream
        private let output: OutputStream
        private let reader: any HTTPBodyReader
        private let length: Int64?
        private let onFailure: @Sendable (TransportError) -> Void
        private let queue = DispatchQueue(label: "switchyard.body-feed")
        private var pending = Data()
        private var given: Int64 = 0
        private var isReading = false
        private var hasEnded = false
        private var task: Task<Void, Never>?

        /// - Throws: ``TransportError`` with ``/SwitchyardServices/WireFailure/requestBodyFailed`` if the stream cannot
        ///   create its reader, or if the system creates no pair of streams.
        init(
            _ stream: HTTPBody.Stream,
            onFailure: @escaping @Sendable (TransportError) -> Void
        ) throws(TransportError) {
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: Self.bufferSize, inputStream: &input, outputStream: &output)
            guard let input, let output else { throw Self.failure("no stream could be created") }
            do { reader = try stream.makeReader() } catch { throw Self.failure("\(error)") }
            self.input = input
            self.output = output
            self.onFailure = onFailure
            length = stream.length
            super.init()
            CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
            output.delegate = self
            output.open()
        }

        deinit {
            output.close()
        }

        /// Stops the feed and the reader of the body.
        ///
        /// The stream stays open as long as the feed exists. If it were closed, `URLSession` would treat the bytes sent
        /// so far as the whole body.
        func stop() {
            queue.async { self.end() }
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            switch event {
            case .hasSpaceAvailable: pump()
            case .errorOccurred, .endEncountered: close()
            default: break
            }
        }

        /// Writes as many bytes as fit into the stream.
        ///
        /// If no bytes are left, requests more bytes from the reader.
        private func pump() {
            while !hasEnded, !pending.isEmpty, output.hasSpaceAvailable {
                let written = pending.withUnsafeBytes { bytes in
                    bytes.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
                }
                guard written > 0 else { return }
                pending.removeFirst(written)
            }
            if pending.isEmpty, !hasEnded, !isReading { readNext() }
        }

        private func readNext() {
            if let length, given == length { return close() }
            isReading = true
            task = Task { [reader, queue] in
                do {
                    let piece = try await reader.read(maximumLength: Self.bufferSize)
                    queue.async { self.take(piece) }
                } catch {
                    queue.async { self.fail("\(error)") }
                }
            }
        }

        private func take(_ piece: Data?) {
            isReading = false
            guard let piece else {
                guard let length, given < length else { return close() }
                return fail("the stream ended after \(given) of \(length) bytes")
            }
            given += Int64(piece.count)
            if let length, given > length { return fail("the stream has more than the announced \(length) bytes") }
            pending = piece
            pump()
        }

        private func fail(_ reason: String) {
            guard !hasEnded else { return }
            end()
            onFailure(Self.failure(reason))
        }

        private func end() {
            hasEnded = true
            task?.cancel()
            output.delegate = nil
        }

        /// Closes the stream, so that `URLSession` treats the body as complete.
        private func close() {
            guard !hasEnded else { return }
            end()
            output.close()
        }

        private static func failure(_ reason: String) -> TransportError {
            TransportError(.requestBodyFailed, message: "the request's body failed: \(reason)")
        }
    }
#endif
