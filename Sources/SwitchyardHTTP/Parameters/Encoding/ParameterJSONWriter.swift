import Foundation

/// A writer of parameter values as JSON (RFC 8259) into a buffer of bytes.
struct ParameterJSONWriter {
    private let options: JSONBodyOptions
    private var path: [String] = []

    init(options: JSONBodyOptions) {
        self.options = options
    }

    mutating func write(_ value: ParameterValue, to output: inout ByteBuffer) throws(RequestError) {
        switch value {
        case .null: output.append("null")
        case .bool(let flag): output.append(flag ? "true" : "false")
        case .integer(let number): output.append(number)
        case .unsigned(let number): output.append(number)
        case .double(let number): try write(number, to: &output)
        case .decimal(let number): number.isNaN ? try write(.nan, to: &output) : output.append(number.description)
        case .string(let text): output.appendJSON(text)
        case .date(let date): try write(date, to: &output)
        case .data(let data): output.appendJSON(data.base64EncodedString())
        case .array(let values): try write(values, to: &output)
        case .dictionary(let values): try write(values, to: &output)
        }
    }

    private func write(_ number: Double, to output: inout ByteBuffer) throws(RequestError) {
        if number.isFinite { return output.append(number.description) }
        guard case .literals(let positive, let negative, let notANumber) = options.nonFiniteNumbers else {
            throw failure(.notFinite)
        }
        output.appendJSON(number.isNaN ? notANumber : number > 0 ? positive : negative)
    }

    private func write(_ date: Date, to output: inout ByteBuffer) throws(RequestError) {
        let text: ParameterEncodingOptions.DateFormat.Output
        do { text = try options.dates.output(for: date) } catch { throw failure(.conversionFailed("\(error)")) }
        switch text {
        case .number(let number): try write(number, to: &output)
        case .text(let text): output.appendJSON(text)
        }
    }

    private mutating func write(_ values: [ParameterValue], to output: inout ByteBuffer) throws(RequestError) {
        guard !values.isEmpty else { return output.append("[]") }
        try descend("[]")
        output.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            breakLine(&output)
            try write(value, to: &output)
        }
        path.removeLast()
        breakLine(&output)
        output.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ values: Parameters, to output: inout ByteBuffer) throws(RequestError) {
        guard !values.isEmpty else { return output.append("{}") }
        let sorted = values.items.areKeysAscending ? values.items : values.items.stablySortedByKey
        for index in sorted.indices.dropFirst() where sorted[index].key == sorted[index - 1].key {
            throw failure(.repeatedName, at: sorted[index].key)
        }
        output.append(UInt8(ascii: "{"))
        for (index, item) in (options.sortsKeys ? sorted : values.items).enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            try descend(item.key)
            breakLine(&output)
            output.appendJSON(item.key)
            output.append(options.isPretty ? " : " : ":")
            try write(item.value, to: &output)
            path.removeLast()
        }
        breakLine(&output)
        output.append(UInt8(ascii: "}"))
    }

    private func breakLine(_ output: inout ByteBuffer) {
        guard options.isPretty else { return }
        output.append(UInt8(ascii: "\n"))
        output.append(String(repeating: "  ", count: path.count))
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

extension ByteBuffer {
    /// Appends a JSON string in quotes, with quotes, backslashes and control characters escaped.
    mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            for index in bytes.indices {
                let byte = bytes[index]
                guard byte < 32 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                append(UnsafeBufferPointer(rebasing: bytes[start..<index]))
                appendJSONEscape(byte)
                start = index + 1
            }
            append(UnsafeBufferPointer(rebasing: bytes[start...]))
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendJSONEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 8: append(UInt8(ascii: "b"))
        case 9: append(UInt8(ascii: "t"))
        case 10: append(UInt8(ascii: "n"))
        case 12: append(UInt8(ascii: "f"))
        case 13: append(UInt8(ascii: "r"))
        case 0..<32:
            append("u00")
            append(PercentEncoding.hexDigit(byte >> 4))
            append(PercentEncoding.hexDigit(byte & 15))
        default: append(byte)
        }
    }
}
