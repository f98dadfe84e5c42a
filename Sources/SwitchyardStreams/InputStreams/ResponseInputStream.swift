public import Foundation
public import SwitchyardClient

/// The body of a ``/SwitchyardClient/StreamedResponse`` as Foundation's input stream, for code that wants one.
///
/// Reading waits for the network, so read away from the main thread and from the threads of tasks. At most 1 MiB and a
/// piece wait for the reader. Closing or releasing the stream ends the transfer.
///
/// It is for a loop that reads: it may be scheduled on a run loop and have a delegate, as code that takes any stream
/// does, and tells nothing there. It is no body for a request of `URLSession`, which wants functions of its streams
/// that Apple does not document.
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

    /// Starts to take the body in.
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

    /// Ends the transfer.
    public override func close() {
        isClosed = true
        pipe.close()
        body.cancel(.cancelled)
    }

    /// Waits for bytes; 0 at the end, -1 before the stream is open, after it was closed and after a failure.
    public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        isOpen && !isClosed ? pipe.read(buffer, maxLength: count) : -1
    }

    /// There is no buffer to look into.
    public override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    /// Whether a read may bring something: it may as long as the end was not met.
    public override var hasBytesAvailable: Bool { isOpen && !isClosed && !pipe.isAtEnd }

    /// Where the stream is.
    public override var streamStatus: Stream.Status {
        if isClosed { return .closed }
        guard isOpen else { return .notOpen }
        if pipe.failure != nil { return .error }
        return pipe.isAtEnd ? .atEnd : .open
    }

    /// Why the body broke off.
    public override var streamError: (any Error)? { pipe.failure }

    // MARK: Run loops and properties

    // Foundation leaves these to each class of stream, and ends the process where one is missing
    // (PKMultipartInputStream, issues 6 and 10).

    /// Does nothing: there are no events.
    public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    /// Does nothing: there are no events.
    public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    #if canImport(Darwin)
        /// Who would be told of events, of which there are none.
        public override var delegate: (any StreamDelegate)? {
            get { listener }
            set { listener = newValue }
        }

        /// There are no properties.
        public override func property(forKey key: Stream.PropertyKey) -> Any? { nil }

        /// There are no properties; `false` says so.
        public override func setProperty(_ property: Any?, forKey key: Stream.PropertyKey) -> Bool { false }
    #else
        /// There are no properties.
        public override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

        /// There are no properties; `false` says so.
        public override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
    #endif
}

extension StreamedResponse {
    /// The body as Foundation's input stream, unopened; the body can be read in one form only.
    public func inputStream() -> ResponseInputStream {
        ResponseInputStream(bytes.body)
    }
}
