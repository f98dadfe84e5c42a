import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A protocol for uploads in several requests: the requests to send and the meaning of the responses.
///
/// The value is immutable and performs no I/O.
///
/// The protocols are tus, version 1.0.0, and `Content-Range`, the protocol of Google's resumable uploads.
struct UploadDialect: Sendable {
    /// A request of the upload after it was opened.
    enum Step: Sendable, Equatable {
        /// A request that asks how many bytes have arrived.
        case question
        /// A request that sends the bytes in this range.
        case piece(Range<Int64>)
    }

    /// The meaning of a response.
    enum Answer: Sendable, Equatable {
        /// The server has this number of bytes and waits for more.
        case has(Int64)
        /// The server has all bytes.
        case complete
        /// The server does not know the upload, because the upload no longer exists or was opened on another server.
        case unknown
        /// The response does not report how many bytes have arrived, so the server must be asked.
        case unsettled
        /// The server does not accept a body of this length.
        case tooLarge
        /// The response is an error that ends the upload.
        case refused
        /// The response violates the protocol. The associated value says how.
        case unusable(String)
    }

    let dialect: UploadResumption.Dialect
    /// The length of the source in bytes.
    let total: Int64
    let contentType: String?

    /// - Throws: ``RequestError/parameter(keyPath:reason:)`` if the metadata cannot be sent.
    init(_ dialect: UploadResumption.Dialect, total: Int64, contentType: String?) throws(RequestError) {
        self.dialect = dialect
        self.total = total
        self.contentType = contentType
        guard case .tus(let metadata) = dialect else { return }
        for key in metadata.keys where !Self.isKey(key) {
            let text = "a key of Upload-Metadata must be visible ASCII without commas"
            throw .parameter(keyPath: key, reason: .conversionFailed(text))
        }
    }

    private static func isKey(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }
    }

    /// Whether an upload with a source of 0 bytes is complete as soon as it is open.
    var isCompleteWhenOpen: Bool {
        if case .tus = dialect { total == 0 } else { false }
    }

    // MARK: - Requests

    /// Turns a request into the request that opens the upload.
    func open(_ request: inout APIConfiguration) {
        switch dialect {
        case .tus(let metadata):
            request.body = .none
            request.setField("Tus-Resumable", "1.0.0")
            request.setField("Upload-Length", "\(total)")
            if !metadata.isEmpty { request.setField("Upload-Metadata", Self.fieldValue(of: metadata)) }
        case .contentRange(let opening):
            request.body = opening
            request.setField("X-Upload-Content-Length", "\(total)")
            if let contentType { request.setField("X-Upload-Content-Type", contentType) }
        }
    }

    /// Turns a request to the upload's URL into a question for the offset, or into a request with a part of the source.
    ///
    /// The body must already be set.
    func take(_ step: Step, in request: inout APIConfiguration) {
        switch (dialect, step) {
        case (.tus, .question):
            request.method = .head
            request.setField("Tus-Resumable", "1.0.0")
        case (.tus, .piece(let range)):
            request.method = .patch
            request.setField("Tus-Resumable", "1.0.0")
            request.setField("Upload-Offset", "\(range.lowerBound)")
            request.setField("Content-Type", "application/offset+octet-stream")
        case (.contentRange, .question):
            request.method = .put
            request.setField("Content-Range", "bytes */\(total)")
        case (.contentRange, .piece(let range)):
            request.method = .put
            let bytes = range.isEmpty ? "*" : "\(range.lowerBound)-\(range.upperBound - 1)"
            request.setField("Content-Range", "bytes \(bytes)/\(total)")
            if let contentType { request.setField("Content-Type", contentType) }
        }
    }

    /// Returns the value of `Upload-Metadata`: the keys in ascending order, each with its value in Base64.
    private static func fieldValue(of metadata: [String: String]) -> String {
        metadata.sorted { $0.key < $1.key }
            .map { $0.value.isEmpty ? $0.key : "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }
            .joined(separator: ",")
    }

    // MARK: - Responses

    /// Returns whether a status does not reveal how many bytes have arrived.
    ///
    /// These are the transient statuses, all statuses from 500 up, and the statuses with which tus servers report that
    /// the offset does not match (409) or that another request has locked the upload (423).
    private static func isUnsettled(_ status: Int) -> Bool {
        status >= 500 || status == 409 || status == 423 || Transience(status: status) == .transient
    }

    /// Returns the meaning of the response to the request of a ``Step``.
    func answer(status: Int, headers: HTTPHeaders) -> Answer {
        if Self.isUnsettled(status) { return .unsettled }
        // Content Too Large (RFC 9110 section 15.5.14).
        if status == 413 { return .tooLarge }
        switch dialect {
        case .tus: return tusResponse(status, headers)
        case .contentRange: return rangeResponse(status, headers)
        }
    }

    private func tusResponse(_ status: Int, _ headers: HTTPHeaders) -> Answer {
        switch status {
        case 200..<300:
            guard let offset = headers["Upload-Offset"].flatMap(Self.number) else {
                return .unusable(
                    "the server does not report how many bytes it has: the response has no valid Upload-Offset"
                )
            }
            if let length = headers["Upload-Length"].flatMap(Self.number), length != total {
                return .unusable("the server expects \(length) bytes, but the upload has \(total) bytes")
            }
            return has(offset)
        case 404, 410: return .unknown
        default: return .refused
        }
    }

    private func rangeResponse(_ status: Int, _ headers: HTTPHeaders) -> Answer {
        switch status {
        case 200..<300: return .complete
        case 308:
            guard let field = headers["Range"] else { return .has(0) }
            let ends = field.dropFirst(field.lowercased().hasPrefix("bytes=") ? 6 : 0).split(separator: "-")
            guard ends.count == 2, ends[0] == "0", let last = Self.number(String(ends[1])), last < total else {
                return .unusable("the server's Range is invalid: must begin at byte 0 and end within the upload")
            }
            // This branch is only for incomplete uploads: the response to a complete upload has a status other than
            // 308.
            return .has(last + 1)
        case 404, 410: return .unknown
        default: return .refused
        }
    }

    /// Returns the number of bytes in the next request after the server rejected a request with `length` bytes as too
    /// large (413), or `nil` if a smaller request is not worth trying.
    ///
    /// The result is about half of `length`. If `length` is at least 512 KiB, the result is a multiple of 256 KiB,
    /// because Google's servers accept only such multiples, except for the last request.
    func shorterPiece(than length: Int64) -> Int64? {
        let unit: Int64 = 262_144
        if length >= 2 * unit { return length / 2 / unit * unit }
        if case .contentRange = dialect { return length > unit ? unit : nil }
        return length > 1024 ? length / 2 : nil
    }

    private func has(_ offset: Int64) -> Answer {
        guard offset <= total else {
            return .unusable("the server reports that it has \(offset) bytes, but the upload has \(total) bytes")
        }
        return offset == total ? .complete : .has(offset)
    }

    private static func number(_ text: String) -> Int64? {
        text.trimmingCharacters(in: .whitespaces).wholeNumber
    }
}

extension UploadResumption.Dialect {
    /// Returns a text that contains the protocol and the data that the server receives when an upload is opened.
    ///
    /// The result is part of the text that identifies the upload.
    func told(in context: BodyEncodingContext) -> String {
        switch self {
        case .tus(let metadata):
            return metadata.sorted { $0.key < $1.key }.reduce("tus") { $0 + $1.key.framed + $1.value.framed }
        case .contentRange(let opening):
            // A body that is not in memory cannot be part of the text that identifies the upload.
            guard case .data(let body)? = try? opening.encoded(in: context) else { return "ranges" }
            let plain = MultipartBoundaries.removed(from: body, contentType: opening.contentType ?? "")
            return "ranges \(MessageDigest.sha256(plain).hexText)"
        }
    }
}
