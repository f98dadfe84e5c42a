import Foundation
import SwitchyardServices

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

extension HTTPRequest {
    /// The request as a command line for `curl`, to be pasted into a shell (behind the `$`).
    ///
    /// Run, it sends the same method, URL, header fields and body. Credentials are hidden unless asked for; a hidden
    /// command still runs, but with `***` in their place. A body that is no text is fed in through `base64`; one that is
    /// a stream cannot be shown and is read from standard input.
    ///
    /// - Parameter redaction: What is hidden; ``Redaction/standard`` unless given, ``Redaction/none`` for nothing.
    /// - Returns: The command.
    public func curlDescription(redaction: Redaction = .standard) -> String {
        let redaction = redaction.covering(self)
        var words = ["curl -v", method == .head ? "--head" : "-X \(Self.word(method.name))"]
        for value in headers.values(of: "Cookie") {
            let shown = redaction.value(value, ofHeader: "Cookie")
            // Without an equals sign curl would take it for the name of a file.
            let isName = !value.contains("=") && shown == value
            words.append(isName ? "-H \(Self.quoted("Cookie: \(shown)"))" : "-b \(Self.quoted(shown))")
        }
        for field in headers where !field.name.equalsIgnoringASCIICase("Cookie") {
            let value = redaction.value(field.value, ofHeader: field.name)
            // A field without a value is written with a semicolon; with a colon it would be left out.
            words.append("-H \(Self.quoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"))")
        }
        let (input, options) = curlBody(redaction)
        words += options
        let address = redaction.url(url.text)
        // curl would take brackets and braces for a pattern of several URLs.
        if address.utf8.contains(where: "[]{}".utf8.contains) { words.append("--globoff") }
        words.append(Self.quoted(address))
        return "$ \(input)\(words.joined(separator: " \\\n\t"))"
    }

    /// What is piped into the command, and the options that stand for the body.
    private func curlBody(_ redaction: Redaction) -> (input: String, options: [String]) {
        let type = headers["Content-Type"]
        // curl would name a form where no type is given.
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

    /// The text as it is where no shell sees more than letters and hyphens in it, else in quotes.
    private static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == UInt8(ascii: "-") }
        return isPlain ? text : quoted(text)
    }

    /// The text in double quotes for a POSIX shell; in single ones where an interactive shell would put a part of its
    /// history in the place of an exclamation mark.
    private static func quoted(_ text: String) -> String {
        // By scalars: a mark that is joined to a quote does not keep the shell from seeing it.
        let scalars = text.unicodeScalars
        if scalars.contains("!") { return "'\(scalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined())'" }
        let special = "\"\\$`".unicodeScalars
        return "\"\(scalars.map { special.contains($0) ? "\\\($0)" : String($0) }.joined())\""
    }
}
