public import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// A response whose body is read as it arrives.
///
///     let answer = try await client.stream(APIConfiguration(path: "log"))
///     for try await line in answer.bytes.lines { print(line) }
///
/// The body can be read once, in one of its forms: ``bytes`` piece by piece, and from there as lines, decoded values or
/// events. A slow reader slows the server down. The transfer ends when the reading task is cancelled, with
/// ``NetworkClient/cancel(_:)-(RequestID)``, and when the response is released.
public struct StreamedResponse: Sendable {
    /// The request.
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
    public var bytes: ResponseBytes

    init(_ response: ServiceResponse, bytes: ResponseBytes) {
        id = response.id
        status = response.status
        headers = response.headers
        context = response.context
        metrics = response.response.metrics
        self.bytes = bytes
    }

    /// The length of the body in bytes, if the server reports it; `nil` for a compressed body.
    ///
    /// For a compressed body the server reports the compressed length, and ``bytes`` may return the decompressed body.
    public var announcedLength: Int64? {
        headers.hasPlainContent ? headers.contentLength : nil
    }

    /// Ends the transfer, whether it is being read or not; has no effect after the end.
    public func cancel() {
        bytes.body.cancel(.cancelled)
    }
}

/// The body of a ``StreamedResponse``, piece by piece as it arrives.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// One piece of the body, never empty.
    public typealias Element = Data
    /// The failure that ends a body early.
    public typealias Failure = RequestFailure

    package let body: LiveBody

    /// Starts reading, or continues where an earlier iteration has stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: body)
    }

    /// Reads the body piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let body: LiveBody

        /// Returns the next piece, or `nil` at the end.
        ///
        /// - Throws: ``RequestFailure`` if the body is interrupted or the transfer was cancelled.
        public mutating func next() async throws(RequestFailure) -> Data? {
            try await body.next()
        }

        /// Returns the next piece, or `nil` at the end, whatever the isolation of the caller.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> Data? {
            try await body.next()
        }
    }

    /// Reads the rest of the body into memory.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The bytes.
    /// - Throws: ``RequestFailure``; with `TransportError.Kind.bodyTooLarge` if there are more than `limit` bytes,
    ///   which ends the transfer.
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

extension NetworkClient {
    /// Sends a request and returns the response as soon as its head has arrived; the body is read as it arrives.
    ///
    /// Until then the request is like any other: it fails over, is hedged, and ends at its deadline. Afterwards only a
    /// `timeout` of the configuration itself applies, to the whole body; `idleTimeout` bounds each pause.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - id: The identifier of the request, by which another task can cancel it, body included.
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
            return StreamedResponse(response, bytes: ResponseBytes(body: LiveBody(transfer, response)))
        } catch {
            transfer.end()
            throw error
        }
    }
}
