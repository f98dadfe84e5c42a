import Foundation

/// Measures the file in a multipart form with a single part, without storing the file.
struct UploadMeter {
    private static let headLimit = 16_384

    private let boundary: String?
    private let bytesPerSecond: Int?
    private var head = Data()
    private var isHeadComplete = false
    private var bodyBytes = 0

    /// Creates a meter for one form.
    ///
    /// - Parameters:
    ///   - contentType: The content type of the form, which contains the boundary.
    ///   - bytesPerSecond: The maximum number of bytes that are accepted per second, or `nil` for no limit.
    init(contentType: String?, bytesPerSecond: Int?) {
        let parameter = contentType?.components(separatedBy: "boundary=").dropFirst().first
        boundary = parameter?.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        self.bytesPerSecond = bytesPerSecond
    }

    /// Measures the next chunk of the form.
    ///
    /// If the rate is limited, waits for as long as the chunk would take.
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

    /// The name and size of the file, or `nil` if the form contains no file.
    ///
    /// Valid after the whole form has arrived.
    var attachment: Attachment? {
        guard let boundary, isHeadComplete else { return nil }
        let text = String(decoding: head, as: UTF8.self)
        guard let name = text.components(separatedBy: "filename=\"").dropFirst().first?.prefix(while: { $0 != "\"" })
        else { return nil }
        let bytes = bodyBytes - "\r\n--\(boundary)--\r\n".utf8.count
        return bytes >= 0 ? Attachment(name: String(name), bytes: bytes) : nil
    }
}
