import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// Removes credentials from a log line by the client's ``Redaction``, whatever text the line contains.
struct LineRedaction: Sendable {
    private let redaction: Redaction

    static let standard: LineRedaction = {
        var redaction = Redaction.standard
        redaction.mark = "<redacted>"
        return LineRedaction(redaction: redaction)
    }()

    /// The fields as `name: value`, without credentials.
    func headers(_ headers: HTTPHeaders) -> String {
        let fields = headers.map { field in
            let value =
                redaction.hides(header: field.name)
                ? redaction.mark : redaction.value(field.value, ofHeader: field.name, takesRelativeURLs: true)
            return "\(field.name): \(value)"
        }
        return Self.line("[" + fields.joined(separator: "; ") + "]")
    }

    /// Text without credentials, in which line ends and other control characters are shown as spaces, so that one entry of
    /// a log stays one line.
    func text(_ text: String) -> String { Self.line(redaction.text(text)) }

    /// The loop reads scalars, because CR LF is one `Character` that is neither CR nor LF.
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
