public import Foundation
public import SwitchyardAPI
public import SwitchyardClient
public import SwitchyardHTTP

/// Why a download gave no file.
///
/// What stood at the destination before is still there.
public struct DownloadFailure: Error, Sendable {
    /// The kinds of failure.
    public enum Reason: Sendable, Hashable {
        /// The request failed: cancelled, no connection, a body that broke off once too often, ...
        case request(RequestFailure.Reason)
        /// The server answered with a status that gives no file.
        case status(Int)
        /// A file cannot be written where it has to be.
        case file(FileFailure)
        /// The answer to a ranged request does not fit what was asked for, even after starting over.
        case unusableRange(String)
        /// The body has another length than the server announced.
        case lengthMismatch(announced: Int64, actual: Int64)
        /// The file is whole, and not what ``DownloadConfiguration/digest`` says; so it is from every server asked.
        case digestMismatch(expected: ContentDigest, actual: ContentDigest)
        /// The closure that chooses the destination threw.
        case destination(String)
        /// This system has no such thing.
        case unsupported(String)
    }

    /// What went wrong.
    public var reason: Reason
    /// Where it went wrong.
    public var context: RequestContext
    /// The download that failed.
    public var id: RequestID
    /// The bytes that are kept for the next start; 0 when there are none.
    public var keptBytes: Int64 = 0
    /// Resumes the download in any later call, through ``DownloadConfiguration/resumeData``; `nil` when nothing is kept.
    ///
    /// The same configuration finds what is kept also without it.
    public var resumeData: Data?
    /// The header fields of the answer that refused.
    public var headers = HTTPHeaders()
    /// The body of the answer that refused, up to ``DownloadConfiguration/errorBodyLimit``.
    public var body = Data()

    init(_ reason: Reason, id: RequestID, context: RequestContext, asking request: APIConfiguration? = nil) {
        self.reason = reason
        self.id = id
        self.context = context
        if let request, context.path == nil { self.context.path = request.place }
    }

    /// Whether a server has, or may have, executed the request of the download.
    ///
    /// It is `true` for a request with effect, such as a POST, once a server has responded with 2xx, also when the file
    /// cannot be used or written. It is `false` for what only reads: see
    /// ``/SwitchyardClient/RequestFailure/mayHaveBeenExecuted``.
    public var mayHaveBeenExecuted: Bool {
        if case .request(let reason) = reason {
            return RequestFailure(reason, id: id, context: context).mayHaveBeenExecuted
        }
        return context.mayHaveTakenEffect
    }

    /// Whether the caller ended the download.
    public var isCancellation: Bool { reason == .request(.cancelled) }

    /// The status of the answer that refused; `nil` when none did.
    public var status: Int? {
        if case .status(let status) = reason { status } else { nil }
    }

    /// The body of the answer that refused as text, by the charset of `Content-Type`; of bytes that are no text what is not
    /// UTF-8 is replaced by U+FFFD.
    public var text: String {
        HTTPResponse(status: status ?? 0, headers: headers, body: .whole(body)).text
            ?? String(decoding: body, as: UTF8.self)
    }
}

extension DownloadFailure: CustomStringConvertible {
    /// The reason and the place; holds no header, no query and no body.
    public var description: String {
        let what =
            switch reason {
            case .request(let reason): RequestFailure(reason, id: id, context: context).description
            case .status(let status): "the server answered \(status)"
            case .file(let failure): "\(failure)"
            case .unusableRange(let text): "the server's range cannot be used: \(text)"
            case .lengthMismatch(let announced, let actual): "\(actual) bytes came, announced were \(announced)"
            case .digestMismatch(let expected, let actual):
                "the file's hash is \(actual), expected was \(expected)"
            case .destination(let text): "the destination could not be chosen: \(text)"
            case .unsupported(let text): text
            }
        let place =
            context.redirects.isEmpty
            ? (context.url?.text ?? context.path).map(Redaction.place) ?? "-" : context.way(Redaction.place)
        return Redaction.standard.text("download of \(place): \(what)")
    }
}

extension DownloadFailure: Discreet {}

extension APIError {
    /// Makes an error of a download's.
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
