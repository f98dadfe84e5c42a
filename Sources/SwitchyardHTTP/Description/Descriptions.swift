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

extension HTTPRequest: Discreet {}
extension HTTPResponse: Discreet {}

extension RequestURL: CustomDebugStringConvertible, CustomReflectable {
    /// The URL with credentials hidden.
    public var debugDescription: String { Redaction.standard.url(text) }

    /// A mirror that shows no property.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

extension Redaction {
    /// The same for one request: the fields in which the client has put credentials are hidden as well, whatever they are
    /// called.
    package func covering(_ request: HTTPRequest) -> Redaction {
        guard !hidesNothing, !request.credentialFields.isEmpty else { return self }
        var redaction = self
        redaction.headerNames.formUnion(request.credentialFields)
        return redaction
    }
}
