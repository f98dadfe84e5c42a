public import Foundation
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

/// Why a file cannot be written, or not be where it should.
public struct FileFailure: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Reason: Sendable, Hashable {
        /// A file stands there already, and is not to be replaced.
        case exists
        /// A directory stands there.
        case isDirectory
        /// The directory that it belongs into is missing, or no directory.
        case directoryMissing
        /// No permission, or a volume that cannot be written to.
        case noPermission
        /// The volume, or the user's share of it, is full.
        case diskFull
        /// The file would be larger than the volume, the process or the caller allows.
        case tooLarge
        /// Another download is writing it.
        case busy
        /// The URL is not that of a file.
        case notAFileURL
        /// Anything else; the text is the system's.
        case other(String)
    }

    /// The path of the file.
    public var path: String
    /// What is wrong.
    public var reason: Reason

    /// Creates a failure.
    public init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}

extension FileFailure: CustomStringConvertible {
    /// What is wrong with which file.
    public var description: String {
        let what =
            switch reason {
            case .exists: "exists already"
            case .isDirectory: "is a directory"
            case .directoryMissing: "stands in a directory that does not exist"
            case .noPermission: "may not be written"
            case .diskFull: "does not fit: the disk is full"
            case .tooLarge: "is larger than allowed"
            case .busy: "is being written by another download"
            case .notAFileURL: "is not given by a file URL"
            case .other(let text): "cannot be written: \(text)"
            }
        return "the file “\(path)” \(what)"
    }
}

extension DownloadFailure: Discreet {}
