import Foundation

extension [ParameterValue] {
    /// The elements of a set in the one order that follows from what they hold: numbers by size, then the rest as text.
    var inSetOrder: [ParameterValue] { inSetOrder(by: \.self) }
}

extension Array {
    /// The elements in the order that a set of what is told of each would have.
    func inSetOrder(by key: (Element) -> ParameterValue) -> [Element] {
        map { (rank: SetRank(key($0)), element: $0) }.sorted { $0.rank < $1.rank }.map(\.element)
    }
}

/// The place of a value among the elements of a set.
private struct SetRank: Comparable {
    let number: Double?
    let text: String

    init(_ value: ParameterValue) {
        text = Self.text(of: value)
        let number: Double? =
            switch value {
            case .integer(let value): Double(value)
            case .unsigned(let value): Double(value)
            case .double(let value): value
            case .decimal: Double(text)
            case .date(let value): value.timeIntervalSinceReferenceDate
            default: nil
            }
        self.number = number.flatMap { $0.isNaN ? nil : $0 }
    }

    private static func text(of value: ParameterValue) -> String {
        switch value {
        case .integer(let value): value.description
        case .unsigned(let value): value.description
        case .double(let value): value.description
        case .decimal(let value): value.description
        case .string(let value): value
        case .data(let value): hexText(of: value)
        case .array(let values): values.map(text).joined(separator: ",")
        case .dictionary(let values): values.items.map { "\($0.key)=\(text(of: $0.value))" }.joined(separator: "&")
        case .null, .bool, .date: String(describing: value)
        }
    }

    private static func hexText(of data: Data) -> String {
        let digits = data.flatMap { [PercentEncoding.hexDigit($0 >> 4), PercentEncoding.hexDigit($0 & 15)] }
        return String(decoding: digits, as: UTF8.self)
    }

    static func < (left: SetRank, right: SetRank) -> Bool {
        switch (left.number, right.number) {
        case (let first?, let second?) where first != second: first < second
        case (nil, .some): false
        case (.some, nil): true
        default: left.text < right.text
        }
    }
}
