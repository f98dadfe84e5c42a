public import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// A response whose body is read as it arrives.
///
///     let answer = try await client.stream(APIConfiguration(path: "log"))
///     for try await line in answer.bytes.lines { print(line) }
///
/// The body can be read once: as chunks of ``bytes``, or as the lines, decoded values or events of ``bytes``. A slow
/// reader slows the server down. The transfer ends when the reading task is cancelled, when
/// ``NetworkClient/cancel(_:)-(RequestID)`` is called, or when the response is released.
public struct StreamedResponse: Sendable {
    /// The identifier of the request.
    public var id: RequestID
    /// The status code.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The server, the number of attempts and the elapsed time.
    public var context: RequestContext
    /// The timing of the exchange until its head arrived, or `nil` if the transport does not measure it.
    public var metrics: TransferMetrics?
    /// The body.
    public var bytes: StreamedResponse.Bytes

    init(_ response: ServiceResponse, bytes: StreamedResponse.Bytes) {
        id = response.id
        status = response.status
        headers = response.headers
        context = response.context
        metrics = response.response.metrics
        self.bytes = bytes
    }

    /// The length of the body in bytes, or `nil` if the server does not report it or the body is compressed.
    ///
    /// For a compressed body the server reports the compressed length, and ``bytes`` may return the decompressed body.
    public var announcedLength: Int64? {
        headers.hasPlainContent ? headers.contentLength : nil
    }

    /// Ends the transfer, even if the body is being read.
    ///
    /// Has no effect if the transfer has already ended.
    public func cancel() {
        bytes.body.cancel(.cancelled)
    }
}

extension StreamedResponse {
    /// The body of a ``StreamedResponse``, in chunks as it arrives.
    public struct Bytes: AsyncSequence, Sendable {
        /// A chunk of the body, which is never empty.
        public typealias Element = Data
        /// The failure that ends a body early.
        public typealias Failure = RequestFailure

        package let body: LiveBody

        /// Starts reading the body.
        ///
        /// If an earlier iteration has stopped, reading continues at that position.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(body: body)
        }

        /// An iterator that reads the body in chunks.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let body: LiveBody

            /// Returns the next chunk, or `nil` at the end.
            ///
            /// - Throws: ``RequestFailure`` if the body is interrupted or the transfer was cancelled.
            public mutating func next() async throws(RequestFailure) -> Data? {
                try await body.next()
            }

            /// Returns the next chunk, or `nil` at the end.
            ///
            /// The caller may run on any actor.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> Data? {
                try await body.next()
            }
        }

        /// Reads the rest of the body into memory.
        ///
        /// - Parameter limit: The maximum number of bytes.
        /// - Returns: The bytes.
        /// - Throws: ``RequestFailure``. If the body has more than `limit` bytes, the transfer ends and the failure has
        ///   `TransportError.Kind.bodyTooLarge`.
        public func collect(upTo limit: Int) async throws(RequestFailure) -> Data {
            var bytes = Data()
            while let piece = try await body.next() {
                guard bytes.count + piece.count <= limit else {
                    throw body.refuse(TransportError(.bodyTooLarge, message: "the body is larger than \(limit) bytes"))
                }
                bytes.append(piece)
            }
            return bytes
        }
    }
}

extension NetworkClient {
    /// Sends a request and returns the response as soon as its head has arrived.
    ///
    /// The body is read as it arrives.
    ///
    /// Until the head arrives, the request is treated like any other request: it fails over, is hedged (sent to a
    /// second server while the first is slow), and ends at its deadline. The time for the whole body is limited only if
    /// the configuration itself sets a `timeout`. An `idleTimeout` limits each pause.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - id: The identifier of the request. Another task can cancel the request and its body by this identifier.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``RequestFailure`` if there is no response.
    public nonisolated(nonsending) func stream(
        _ configuration: APIConfiguration,
        id: RequestID = RequestID()
    ) async throws(RequestFailure) -> StreamedResponse {
        let transfer = Transfer(id: id, client: self)
        do throws(RequestFailure.Reason) {
            try transfer.begin(configuration)
        } catch {
            throw RequestFailure(error, id: id, context: transfer.context(of: configuration))
        }
        do throws(RequestFailure) {
            let response = try await transfer.open(configuration, endsByHandle: true)
            return StreamedResponse(response, bytes: StreamedResponse.Bytes(body: LiveBody(transfer, response)))
        } catch {
            transfer.end()
            throw error
        }
    }
}
