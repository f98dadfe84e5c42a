import Foundation

/// A regular expression in the dialect of ICU, which reads the patterns of JSON Schema.
struct ShapePattern: @unchecked Sendable {
    // @unchecked is sound: NSRegularExpression is immutable and documented as safe for concurrent use.
    private let expression: NSRegularExpression?

    init(_ pattern: String) {
        expression = try? NSRegularExpression(pattern: pattern)
    }

    /// Whether it is a regular expression at all.
    var isReadable: Bool { expression != nil }

    /// Whether some part of the text matches.
    func matches(_ text: String) -> Bool {
        guard let expression else { return false }
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }
}
