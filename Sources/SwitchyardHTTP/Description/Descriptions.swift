import Foundation
import SwitchyardServices

extension HTTPRequest: CustomStringConvertible {
    /// The method and URL on one line, without header fields and body; credentials are redacted.
    public var description: String { line(.standard) }

    /// Returns the request as one line for a log.
    package func line(_ redaction: Redaction) -> String { "\(method.name) \(redaction.url(url.text))" }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status, content type and body size on one line, without other header fields and without the body's content.
    public var description: String {
        let type = headers["Content-Type"].map { ", \($0)" } ?? ""
        return switch body {
        case .whole(let data): "\(status)\(type), \(data.count) bytes"
        case .stream: "\(status)\(type), streamed"
        }
    }
}

extension HTTPRequest: RedactedDescribable {}
extension HTTPResponse: RedactedDescribable {}

extension RequestURL: CustomDebugStringConvertible, CustomReflectable {
    /// The URL with credentials redacted.
    public var debugDescription: String { Redaction.standard.url(text) }

    /// A mirror without children, so that reflection does not reveal the URL.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

extension Redaction {
    /// Returns a copy that also redacts the header fields in which the client has put credentials of the request,
    /// whatever the names of the fields.
    package func covering(_ request: HTTPRequest) -> Redaction {
        guard !hidesNothing, !request.credentialFields.isEmpty else { return self }
        var redaction = self
        redaction.headerNames.formUnion(request.credentialFields)
        return redaction
    }
}

extension HTTPRequest {
    /// Returns the request as a `curl` command line for a shell, with the prompt `$` in front of it.
    ///
    /// The command sends the same method, URL, header fields and body. Credentials are redacted by default. A redacted
    /// command still runs, but sends `***` instead of the credentials. A body that is not text is piped in through
    /// `base64`. The bytes of a streamed body are not known, so the command reads the body from standard input.
    ///
    /// - Parameter redaction: The redaction rules; ``Redaction/standard`` by default. ``Redaction/none`` redacts
    ///   nothing.
    /// - Returns: The command.
    public func curlDescription(redaction: Redaction = .standard) -> String {
        let redaction = redaction.covering(self)
        var words = ["curl -v", method == .head ? "--head" : "-X \(Self.word(method.name))"]
        for value in headers.values(of: "Cookie") {
            let shown = redaction.value(value, ofHeader: "Cookie")
            // Without an equals sign, curl would treat the value of `-b` as a file name.
            let isName = !value.contains("=") && shown == value
            words.append(isName ? "-H \(Self.quoted("Cookie: \(shown)"))" : "-b \(Self.quoted(shown))")
        }
        for field in headers where !field.name.equalsIgnoringASCIICase("Cookie") {
            let value = redaction.value(field.value, ofHeader: field.name)
            // curl sends a field without a value only if a semicolon follows its name; with a colon, curl would omit
            // the field.
            words.append("-H \(Self.quoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"))")
        }
        let (input, options) = curlBody(redaction)
        words += options
        let address = redaction.url(url.text)
        // curl would treat brackets and braces as a pattern for several URLs.
        if address.utf8.contains(where: "[]{}".utf8.contains) { words.append("--globoff") }
        words.append(Self.quoted(address))
        return "$ \(input)\(words.joined(separator: " \\\n\t"))"
    }

    /// Returns the command that is piped into curl, and curl's options for the body.
    private func curlBody(_ redaction: Redaction) -> (input: String, options: [String]) {
        let type = headers["Content-Type"]
        // If a body has no content type, this option stops curl from adding the content type of a form.
        let noType = type == nil ? ["-H \"Content-Type:\""] : []
        switch body {
        case .none: return ("", [])
        case .data(let data):
            let shown = redaction.body(data, contentType: type)
            guard let text = String(validUTF8: shown), !text.utf8.contains(0) else {
                return ("echo \(shown.base64EncodedString()) | base64 -d | ", noType + ["--data-binary @-"])
            }
            return ("", noType + ["\(text.utf8.first == UInt8(ascii: "@") ? "--data-raw" : "-d") \(Self.quoted(text))"])
        case .file(let url): return ("", noType + ["--data-binary \(Self.quoted("@\(url.path)"))"])
        case .stream: return ("", noType + ["--data-binary @-"])
        }
    }

    /// Returns the text unchanged if it contains only letters and hyphens, otherwise in quotes.
    private static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == UInt8(ascii: "-") }
        return isPlain ? text : quoted(text)
    }

    /// Returns the text in double quotes for a POSIX shell.
    ///
    /// A text with an exclamation mark is in single quotes, because an interactive shell would replace the mark with
    /// text from its history.
    private static func quoted(_ text: String) -> String {
        // Iterate over scalars, because the shell sees a quote even if a combining mark follows it.
        let scalars = text.unicodeScalars
        if scalars.contains("!") { return "'\(scalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined())'" }
        let special = "\"\\$`".unicodeScalars
        return "\"\(scalars.map { special.contains($0) ? "\\\($0)" : String($0) }.joined())\""
    }
}
