public import Foundation
public import SwitchyardClient

/// The body of a ``/SwitchyardClient/StreamedResponse`` as a Foundation input stream, for APIs that require an input
/// stream.
///
/// Reading waits for the network, so do not read on the main thread or on the threads of tasks. At most 1 MiB and one
/// further chunk of the body are buffered for the reader. Closing or releasing the stream ends the transfer.
///
/// The stream is intended for a loop that calls `read`. Code may schedule it on a run loop and set a delegate, but the
/// stream sends no events. The stream cannot be the body of a `URLSession` request, because `URLSession` calls
/// undocumented methods of its body streams.
public final class ResponseInputStream: InputStream {
    private let body: LiveBody
    private let pipe = BlockingPipe()
    private var isOpen = false
    private var isClosed = false
    #if canImport(Darwin)
        private weak var listener: (any StreamDelegate)?
    #endif

    init(_ body: LiveBody) {
        self.body = body
        super.init(data: Data())
    }

    deinit {
        pipe.close()
        body.cancel(.cancelled)
    }

    /// Starts receiving the body.
    public override func open() {
        guard !isOpen, !isClosed else { return }
        isOpen = true
        Task { [body, pipe] in
            do throws(RequestFailure) {
                while let piece = try await body.next() {
                    guard await pipe.write(piece) else { return }
                }
                pipe.finish(.success(()))
            } catch {
                pipe.finish(.failure(error))
            }
        }
    }

    /// Closes the stream, and ends the transfer.
    public override func close() {
        isClosed = true
        pipe.close()
        body.cancel(.cancelled)
    }

    /// Waits for bytes, copies them into the buffer, and returns their number.
    ///
    /// Returns 0 at the end of the body. Returns -1 before the stream is open, after it was closed, and after a
    /// failure.
    public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        guard isOpen, !isClosed else { return -1 }
        do throws(RequestFailure) { try body.checkOwner() } catch { pipe.fail(error) }
        return pipe.read(buffer, maxLength: count)
    }

    /// Returns `false`, because the stream has no accessible buffer.
    public override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    /// Whether a read may return bytes.
    ///
    /// The value is `true` until the end is reached.
    public override var hasBytesAvailable: Bool { isOpen && !isClosed && !pipe.isAtEnd }

    /// The status of the stream.
    public override var streamStatus: Stream.Status {
        if isClosed { return .closed }
        guard isOpen else { return .notOpen }
        if pipe.failure != nil { return .error }
        return pipe.isAtEnd ? .atEnd : .open
    }

    /// The failure that interrupted the body, or `nil` if there was no failure.
    public override var streamError: (any Error)? { pipe.failure }

    // MARK: Run loops and properties

    // Foundation requires each subclass to override these methods, and crashes the process if a method is missing
    // (PKMultipartInputStream, issues 6 and 10).

    /// Does nothing, because the stream sends no events.
    public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    /// Does nothing, because the stream sends no events.
    public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    #if canImport(Darwin)
        /// The delegate, which receives no events.
        public override var delegate: (any StreamDelegate)? {
            get { listener }
            set { listener = newValue }
        }

        /// Returns `nil`, because the stream has no properties.
        public override func property(forKey key: Stream.PropertyKey) -> Any? { nil }

        /// Returns `false`, because the stream has no properties.
        public override func setProperty(_ property: Any?, forKey key: Stream.PropertyKey) -> Bool { false }
    #else
        /// Returns `nil`, because the stream has no properties.
        public override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

        /// Returns `false`, because the stream has no properties.
        public override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
    #endif
}

extension StreamedResponse {
    /// Returns the body as a Foundation input stream that is not open yet.
    ///
    /// Read the body only through this stream.
    public func inputStream() -> ResponseInputStream {
        ResponseInputStream(bytes.body)
    }
}
