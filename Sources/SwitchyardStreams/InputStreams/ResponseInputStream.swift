public import Foundation
public import SwitchyardClient

/// The body of a ``StreamedResponse`` as Foundation's input stream, for code that wants one.
///
/// Reading waits for the network, so read away from the main thread and from the threads of tasks. At most 1 MiB and a
/// piece wait for the reader. Closing or releasing the stream ends the transfer.
public final class ResponseInputStream: InputStream {
    private let body: LiveBody
    private let pipe = BlockingPipe()
    private var isOpen = false
    private var isClosed = false

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
}

extension StreamedResponse {
    /// The body as Foundation's input stream, unopened; the body can be read in one form only.
    public func inputStream() -> ResponseInputStream {
        ResponseInputStream(bytes.body)
    }
}
