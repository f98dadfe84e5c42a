package import Foundation

/// Options for encoding values as JSON.
///
/// The options apply to parameters. They also apply to any encodable value, through a `JSONEncoder` that is created
/// from the options once.
public struct JSONBodyOptions: Sendable {
    /// The format of dates; by default ISO 8601 with whole seconds in UTC.
    public var dates = ParameterEncodingOptions.DateFormat.iso8601
    /// The treatment of infinities and NaN; by default they are an error.
    public var nonFiniteNumbers = ParameterEncodingOptions.NonFiniteNumbers.refused
    /// Whether members are sorted by their names, so that equal values give equal bytes; `true` by default.
    public var sortsKeys = true
    /// Whether the JSON has line breaks and indentation; `false` by default.
    public var isPretty = false
    /// The maximum nesting depth of parameters; by default 512, the limit of Foundation's decoder.
    public var maximumDepth = 512

    /// Creates the default options.
    public init() {}

    /// Returns a Foundation encoder that follows these options.
    package func makeEncoder() -> JSONEncoder {
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
