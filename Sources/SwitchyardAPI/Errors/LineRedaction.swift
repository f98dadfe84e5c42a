import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A redaction that removes credentials from a log line, whatever text the line contains.
///
/// The rules are the client's ``Redaction``.
struct LineRedaction: Sendable {
    private let redaction: Redaction

    static let standard: LineRedaction = {
        var redaction = Redaction.standard
        redaction.mark = "<redacted>"
        return LineRedaction(redaction: redaction)
    }()

    /// Returns the header fields as `name: value`, without credentials.
    func headers(_ headers: HTTPHeaders) -> String {
        let fields = headers.map { field in
            let value =
                redaction.hides(header: field.name)
                ? redaction.mark : redaction.value(field.value, ofHeader: field.name, takesRelativeURLs: true)
            return "\(field.name): \(value)"
        }
        return Self.line("[" + fields.joined(separator: "; ") + "]")
    }

    /// Returns a text without credentials, on one line.
    ///
    /// Line ends and other control characters become spaces, so that one log entry stays one line.
    func text(_ text: String) -> String { Self.line(redaction.text(text)) }

    /// Returns a text with its control characters replaced by spaces.
    ///
    /// The loop reads Unicode scalars, because CR LF is a single `Character` that equals neither CR nor LF.
    private static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: endsLine) else { return text }
        var line = String.UnicodeScalarView()
        var isGap = false
        for scalar in text.unicodeScalars {
            let isEnd = endsLine(scalar)
            if !isEnd || !isGap { line.append(isEnd ? " " : scalar) }
            isGap = isEnd
        }
        return String(line)
    }

    private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
