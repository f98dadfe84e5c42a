import Foundation

/// Writes a value tree as JSON (RFC 8259) into a buffer of bytes.
struct ParameterJSONWriter {
    let options: JSONBodyOptions
    private(set) var output: [UInt8] = []
    private var path: [String] = []

    init(options: JSONBodyOptions) {
        self.options = options
    }

    mutating func write(_ value: ParameterValue) throws(RequestError) {
        switch value {
        case .null: append("null")
        case .bool(let flag): append(flag ? "true" : "false")
        case .integer(let number): append(number.description)
        case .unsigned(let number): append(number.description)
        case .double(let number): try writeNumber(number)
        case .decimal(let number): number.isNaN ? try writeNumber(.nan) : append(number.description)
        case .string(let text): writeString(text)
        case .date(let date): try writeDate(date)
        case .data(let data): writeString(data.base64EncodedString())
        case .array(let values): try writeArray(values)
        case .dictionary(let values): try writeDictionary(values)
        }
    }

    private mutating func append(_ text: String) {
        output.append(contentsOf: text.utf8)
    }

    private mutating func writeNumber(_ number: Double) throws(RequestError) {
        if number.isFinite { return append(number.description) }
        guard case .literals(let positive, let negative, let notANumber) = options.nonFiniteNumbers else {
            throw failure(.notFinite)
        }
        writeString(number.isNaN ? notANumber : number > 0 ? positive : negative)
    }

    private mutating func writeDate(_ date: Date) throws(RequestError) {
        let text: ParameterDateFormat.Output
        do { text = try options.dates.output(for: date) } catch { throw failure(.conversionFailed("\(error)")) }
        switch text {
        case .number(let number): try writeNumber(number)
        case .text(let text): writeString(text)
        }
    }

    private mutating func writeArray(_ values: [ParameterValue]) throws(RequestError) {
        guard !values.isEmpty else { return append("[]") }
        try descend("[]")
        append("[")
        for (index, value) in values.enumerated() {
            if index > 0 { append(",") }
            breakLine()
            try write(value)
        }
        path.removeLast()
        breakLine()
        append("]")
    }

    private mutating func writeDictionary(_ values: Parameters) throws(RequestError) {
        guard !values.isEmpty else { return append("{}") }
        let sorted = values.items.stablySortedByKey
        for index in sorted.indices.dropFirst() where sorted[index].key == sorted[index - 1].key {
            throw failure(.repeatedName, at: sorted[index].key)
        }
        append("{")
        for (index, item) in (options.sortsKeys ? sorted : values.items).enumerated() {
            if index > 0 { append(",") }
            try descend(item.key)
            breakLine()
            writeString(item.key)
            append(options.isPretty ? " : " : ":")
            try write(item.value)
            path.removeLast()
        }
        breakLine()
        append("}")
    }

    private mutating func writeString(_ text: String) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case 8: append("\\b")
            case 9: append("\\t")
            case 10: append("\\n")
            case 12: append("\\f")
            case 13: append("\\r")
            case 0..<32:
                append("\\u00")
                output.append(contentsOf: [byte >> 4 + UInt8(ascii: "0"), "0123456789abcdef".utf8.byte(at: byte & 15)])
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func breakLine() {
        guard options.isPretty else { return }
        output.append(10)
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: path.count * 2))
    }

    private mutating func descend(_ key: String) throws(RequestError) {
        path.append(key)
        guard path.count <= options.maximumDepth else { throw failure(.tooDeep(limit: options.maximumDepth)) }
    }

    private func failure(_ reason: RequestError.ParameterReason, at key: String? = nil) -> RequestError {
        let names = path + (key.map { [$0] } ?? [])
        let keyPath = names.dropFirst().reduce(names.first ?? "") { $1 == "[]" ? $0 + "[]" : "\($0)[\($1)]" }
        return .parameter(keyPath: keyPath, reason: reason)
    }
}

extension String.UTF8View {
    fileprivate func byte(at offset: UInt8) -> UInt8 {
        self[index(startIndex, offsetBy: Int(offset))]
    }
}
