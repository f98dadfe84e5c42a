import Foundation

/// Measures a file that arrives as the only part of a multipart form, without keeping it.
struct UploadMeter {
    private static let headLimit = 16_384

    private let boundary: String?
    private let bytesPerSecond: Int?
    private var head = Data()
    private var isHeadComplete = false
    private var bodyBytes = 0

    /// - Parameters:
    ///   - contentType: The form's content type, which names the boundary.
    ///   - bytesPerSecond: How fast the file is taken; as fast as it comes when `nil`.
    init(contentType: String?, bytesPerSecond: Int?) {
        let parameter = contentType?.components(separatedBy: "boundary=").dropFirst().first
        boundary = parameter?.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        self.bytesPerSecond = bytesPerSecond
    }

    /// Takes the next piece in; a slow machine takes its time.
    mutating func take(_ piece: Data) async throws {
        if let bytesPerSecond {
            try await Task.sleep(for: .seconds(Double(piece.count) / Double(bytesPerSecond)))
        }
        guard !isHeadComplete else {
            bodyBytes += piece.count
            return
        }
        head.append(piece)
        guard let end = head.range(of: Data("\r\n\r\n".utf8)) else { return }
        bodyBytes = head.count - end.upperBound
        head = head.prefix(upTo: min(end.lowerBound, Self.headLimit))
        isHeadComplete = true
    }

    /// The file, once everything has arrived; `nil` when it was no form with a file.
    var attachment: Attachment? {
        guard let boundary, isHeadComplete else { return nil }
        let text = String(decoding: head, as: UTF8.self)
        guard let name = text.components(separatedBy: "filename=\"").dropFirst().first?.prefix(while: { $0 != "\"" })
        else { return nil }
        let bytes = bodyBytes - "\r\n--\(boundary)--\r\n".utf8.count
        return bytes >= 0 ? Attachment(name: String(name), bytes: bytes) : nil
    }
}
