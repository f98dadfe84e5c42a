public import Foundation
public import SwitchyardAPI
public import SwitchyardClient
public import SwitchyardHTTP

/// An error that explains why a download produced no file.
///
/// If a file existed at the destination before the download, it is unchanged.
public struct DownloadFailure: Error, Sendable {
    /// The kinds of failure.
    public enum Reason: Sendable, Hashable {
        /// The request failed, for example because it was cancelled, there was no connection, or the body was
        /// interrupted too often.
        case request(RequestFailure.Reason)
        /// The server responded with this status, so there is no file.
        case status(Int)
        /// The file cannot be written or moved.
        case file(FileFailure)
        /// The response to a range request does not match the request, even after the download has started over.
        case unusableRange(String)
        /// The length of the body differs from the length that the server announced.
        case lengthMismatch(announced: Int64, actual: Int64)
        /// The file is complete, but its digest differs from ``DownloadConfiguration/digest`` for every server that was
        /// asked.
        case digestMismatch(expected: ContentDigest, actual: ContentDigest)
        /// The closure that chooses the destination threw an error.
        case destination(String)
        /// The system does not support this feature.
        case unsupported(String)
    }

    /// The reason for the failure.
    public var reason: Reason
    /// The context of the failed request: service, server, URL and attempts.
    public var context: RequestContext
    /// The identifier of the download that failed.
    public var id: RequestID
    /// The number of received bytes that are kept for resuming the download; 0 if no bytes are kept.
    public var keptBytes: Int64 = 0
    /// The data with which a later call can resume the download through ``DownloadConfiguration/resumeData``, or `nil`
    /// if no bytes are kept.
    ///
    /// A later call with the same configuration finds the kept bytes even without this data.
    public var resumeData: Data?
    /// The header fields of the error response.
    public var headers = HTTPHeaders()
    /// The body of the error response, up to ``DownloadConfiguration/errorBodyLimit``.
    public var body = Data()

    init(_ reason: Reason, id: RequestID, context: RequestContext, asking request: APIConfiguration? = nil) {
        self.reason = reason
        self.id = id
        self.context = context
        if let request, context.path == nil { self.context.path = request.place }
    }

    /// Whether a server has processed, or may have processed, the request of the download.
    ///
    /// For a request with an effect, such as a POST, the value is `true` once a server has responded with 2xx, even if
    /// the file cannot be used or written. For a request that only reads, it is `false`. See
    /// ``/SwitchyardClient/RequestFailure/mayHaveBeenExecuted``.
    public var mayHaveBeenExecuted: Bool {
        if case .request(let reason) = reason {
            return RequestFailure(reason, id: id, context: context).mayHaveBeenExecuted
        }
        return context.mayHaveTakenEffect
    }

    /// Whether the app cancelled the download.
    public var isCancellation: Bool { reason == .request(.cancelled) }

    /// The status of the error response, or `nil` if there was no error response.
    public var status: Int? {
        if case .status(let status) = reason { status } else { nil }
    }

    /// The body of the error response as text, decoded by the charset of `Content-Type`; bytes that are not valid UTF-8
    /// are replaced by U+FFFD.
    public var text: String {
        HTTPResponse(status: status ?? 0, headers: headers, body: .whole(body)).text
            ?? String(decoding: body, as: UTF8.self)
    }
}

extension DownloadFailure: CustomStringConvertible {
    /// The reason and the context of the failure, without header fields, query and body.
    public var description: String {
        let what =
            switch reason {
            case .request(let reason): RequestFailure(reason, id: id, context: context).description
            case .status(let status): "the server responded with status \(status)"
            case .file(let failure): "\(failure)"
            case .unusableRange(let text): "the server's range cannot be used: \(text)"
            case .lengthMismatch(let announced, let actual): "\(actual) bytes arrived, expected \(announced) bytes"
            case .digestMismatch(let expected, let actual):
                "the digest of the file is \(actual), expected \(expected)"
            case .destination(let text): "the destination could not be chosen: \(text)"
            case .unsupported(let text): text
            }
        let place =
            context.redirects.isEmpty
            ? (context.url?.text ?? context.path).map(Redaction.place) ?? "-" : context.way(Redaction.place)
        return Redaction.standard.text("download of \(place): \(what)")
    }
}

extension DownloadFailure: RedactedDescribable {}

extension APIError {
    /// Creates an error from the failure of a download.
    public init(_ failure: DownloadFailure) {
        var context = Context(failure.context)
        context.requestID = failure.id
        context.underlying = failure
        context.mayHaveBeenExecuted = failure.mayHaveBeenExecuted
        let reason: Reason =
            switch failure.reason {
            case .request(let reason): Reason(reason)
            case .status(let status): .status(status)
            case .lengthMismatch: .body(.truncated)
            case .digestMismatch: .body(.digest)
            case .unsupported(let text): .configuration(.unsupported(text))
            case .file, .destination, .unusableRange: .configuration(.other(failure.description))
            }
        if case .status(let status) = failure.reason {
            context.keep(status: status, headers: failure.headers, body: failure.body)
        }
        self.init(reason, context: context)
    }
}

extension DownloadFailure: APIErrorConvertible {
    package func apiError(in context: APIError.Context) -> APIError { APIError(self) }
}
