public import Foundation

/// How values become JSON.
///
/// The options apply to parameters and, through an encoder made from them once, to any encodable value.
public struct JSONBodyOptions: Sendable {
    /// How dates are written; ISO 8601 with whole seconds in UTC unless set.
    public var dates = ParameterDateFormat.iso8601
    /// How infinities and NaN are written; refused unless set.
    public var nonFiniteNumbers = ParameterEncodingOptions.NonFiniteNumbers.refused
    /// Whether members are sorted by their names, so that equal values give equal bytes; on unless set.
    public var sortsKeys = true
    /// Whether the text is broken into indented lines; off unless set.
    public var isPretty = false
    /// How deep parameters may be nested; 512 unless set, the limit of Foundation's decoder.
    public var maximumDepth = 512

    /// Creates the default options.
    public init() {}

    /// Makes a Foundation encoder that follows these options.
    public func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        if sortsKeys { encoder.outputFormatting.insert(.sortedKeys) }
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        if case .literals(let positive, let negative, let notANumber) = nonFiniteNumbers {
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: positive,
                negativeInfinity: negative,
                nan: notANumber
            )
        }
        encoder.dateEncodingStrategy = .custom { [dates] date, encoder in
            var container = encoder.singleValueContainer()
            switch try dates.output(for: date) {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
        return encoder
    }
}
