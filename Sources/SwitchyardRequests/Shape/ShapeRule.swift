import Foundation
public import SwitchyardServices

/// A rule for values of one kind.
///
/// Values of other kinds always obey it.
struct ShapeRule: Sendable {
    /// The rule in words, for the error.
    let name: String
    let holds: @Sendable (JSONValue) -> Bool
}

extension JSONShape {
    /// Requires that a number lies in the range.
    public func range(_ range: ClosedRange<Double>) -> JSONShape {
        adding(
            ShapeRule(name: "range \(range)") { value in
                value.number.map { $0.isAtLeast(range.lowerBound) && $0.isAtMost(range.upperBound) } ?? true
            }
        )
    }

    /// Requires that a number is at least `minimum`.
    public func minimum(_ minimum: Double) -> JSONShape {
        adding(ShapeRule(name: "minimum \(minimum)") { $0.number.map { $0.isAtLeast(minimum) } ?? true })
    }

    /// Requires that a number is at most `maximum`.
    public func maximum(_ maximum: Double) -> JSONShape {
        adding(ShapeRule(name: "maximum \(maximum)") { $0.number.map { $0.isAtMost(maximum) } ?? true })
    }

    /// Requires that the number of Unicode scalars of a string is in the range.
    public func length(_ range: ClosedRange<Int>) -> JSONShape {
        adding(ShapeRule(name: "length \(range)") { $0.string.map { range.contains($0.unicodeScalars.count) } ?? true })
    }

    /// Requires that the number of elements of an array is in the range.
    public func count(_ range: ClosedRange<Int>) -> JSONShape {
        adding(ShapeRule(name: "count \(range)") { $0.array.map { range.contains($0.count) } ?? true })
    }

    /// Requires that a part of the string matches a regular expression in the ICU dialect.
    ///
    /// An invalid expression matches nothing, and the error reports that the expression is invalid.
    public func pattern(_ pattern: String) -> JSONShape {
        let expression = ShapePattern(pattern)
        let name = "pattern \(pattern)" + (expression.isReadable ? "" : ", which is not a valid regular expression")
        return adding(ShapeRule(name: name) { $0.string.map(expression.matches) ?? true })
    }

    /// Requires that the value equals one of `values`.
    ///
    /// Strings are compared scalar by scalar (RFC 8259 section 8.3), so "é" as one scalar differs from "e" followed by
    /// an accent.
    public func oneOf(_ values: [JSONValue]) -> JSONShape {
        adding(ShapeRule(name: "one of \(values.count) values") { value in values.contains { $0.isSame(as: value) } })
    }

    /// Requires that the value obeys a custom rule.
    ///
    /// - Parameters:
    ///   - name: The rule in words, for the error.
    ///   - holds: A closure that returns whether a value obeys the rule.
    /// - Returns: The shape with the rule.
    public func rule(_ name: String, _ holds: @escaping @Sendable (JSONValue) -> Bool) -> JSONShape {
        adding(ShapeRule(name: name, holds: holds))
    }
}

extension JSONNumber {
    /// Returns whether the number is at least the bound.
    ///
    /// Whole numbers of 64 bits are compared exactly, because conversion to `Double` could round them to the bound.
    fileprivate func isAtLeast(_ bound: Double) -> Bool {
        if let int, let bound = Int(exactly: bound) { return int >= bound }
        if let unsigned, let bound = UInt64(exactly: bound) { return unsigned >= bound }
        return double >= bound
    }

    /// Returns whether the number is at most the bound.
    ///
    /// Whole numbers of 64 bits are compared exactly.
    fileprivate func isAtMost(_ bound: Double) -> Bool {
        if let int, let bound = Int(exactly: bound) { return int <= bound }
        if let unsigned, let bound = UInt64(exactly: bound) { return unsigned <= bound }
        return double <= bound
    }
}

extension JSONValue {
    /// Returns whether both values are equal.
    ///
    /// Strings are compared scalar by scalar.
    fileprivate func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)):
            left.unicodeScalars.elementsEqual(right.unicodeScalars)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count && left.allSatisfy { right.holds($0.key, $0.value) }
        default:
            self == other
        }
    }
}

extension JSONMembers {
    /// Returns whether the object has a member with exactly this name and an equal value.
    fileprivate func holds(_ name: String, _ value: JSONValue) -> Bool {
        contains(name: name) && self[name]?.isSame(as: value) == true
    }
}

/// A regular expression in the ICU dialect, which also covers the patterns of JSON Schema.
struct ShapePattern: @unchecked Sendable {
    // @unchecked is sound: NSRegularExpression is immutable and documented as safe for concurrent use.
    private let expression: NSRegularExpression?

    init(_ pattern: String) {
        expression = try? NSRegularExpression(pattern: pattern)
    }

    /// Whether the expression is valid.
    var isReadable: Bool { expression != nil }

    /// Whether some part of the text matches.
    func matches(_ text: String) -> Bool {
        guard let expression else { return false }
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }
}
