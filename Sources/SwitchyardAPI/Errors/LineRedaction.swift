import Foundation
import SwitchyardClient

/// Takes credentials out of a line for a log, whatever text stands in it.
struct LineRedaction: Sendable {
    /// The names whose values are never shown: those that the client's printers hide, and some more.
    private let names: Redaction

    /// What stands where a credential stood.
    static let mark = "<redacted>"

    static let standard: LineRedaction = {
        var names = Redaction.standard
        names.headerNames.formUnion(["www-authenticate", "authentication-info"])
        return LineRedaction(names: names)
    }()

    /// The fields as `name: value`, without credentials.
    func headers(_ headers: HTTPHeaders) -> String {
        let fields = headers.map { field in
            let value = names.hides(header: field.name) ? Self.mark : text(field.value)
            return "\(field.name): \(value)"
        }
        return "[" + fields.joined(separator: "; ") + "]"
    }

    /// Text in which URLs lose user and password, secret parameters lose their values, and line ends and other control
    /// characters are shown as spaces, so that one entry of a log stays one line.
    func text(_ text: String) -> String {
        var result = Self.line(text)
        result = result.replacing(/:\/\/[^\/\s@]+@/, with: "://\(Self.mark)@")
        result = result.replacing(/(?i)\b(bearer|basic|digest)\s+[A-Za-z0-9+\/=._~\-]{6,}/) { match in
            "\(match.1) \(Self.mark)"
        }
        // A value goes on behind a comma, a semicolon or an apostrophe, unless that begins another parameter.
        let parameter = /([?&;#\s"'])([A-Za-z0-9_.\-%\[\]]+)=[^&#\s"',;]+(?:[',;][^&#\s"',;=]++(?!=))*/
        return result.replacing(parameter) { match in
            names.hides(parameter: String(match.2))
                ? "\(match.1)\(match.2)=\(Self.mark)" : String(match.0)
        }
    }

    /// By scalars: to a `Character`, CR LF is one that is neither.
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
