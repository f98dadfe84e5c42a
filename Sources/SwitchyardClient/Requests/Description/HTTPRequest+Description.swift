extension HTTPRequest: CustomStringConvertible {
    /// Method and URL, in one line, with credentials hidden; no header field and no body.
    public var description: String { line(.standard) }

    /// The line for a log.
    package func line(_ redaction: Redaction) -> String { "\(method.name) \(redaction.url(url.text))" }
}

extension HTTPResponse: CustomStringConvertible {
    /// Status, content type and size of the body, in one line; no other header field, and nothing of the body.
    public var description: String {
        let type = headers["Content-Type"].map { ", \($0)" } ?? ""
        return switch body {
        case .whole(let data): "\(status)\(type), \(data.count) bytes"
        case .stream: "\(status)\(type), streamed"
        }
    }
}

extension APIConfiguration: CustomStringConvertible {
    /// Method and path, in one line, with credentials hidden; no parameter, no header field and no body.
    public var description: String { line(.standard) }

    /// The line for a log.
    package func line(_ redaction: Redaction) -> String { "\(sentMethod.name) \(redaction.url(place))" }
}
