import Foundation

/// Writes parameters as `key=value&...` into a buffer of bytes.
///
/// The name of the value being written is kept as raw text and grows and shrinks with the tree; it is percent-encoded
/// once per value. Flat parameters allocate nothing but the output.
struct ParameterSerializer {
    private let options: ParameterEncodingOptions
    private let keyCharacters: URLCharacters
    private let separator: [UInt8]
    /// Written in front of the first pair: the `?` or `&` of a URL.
    private var lead: UInt8?
    private(set) var output: [UInt8]
    private var name: [UInt8] = []
    private var depth = 0
    private var isFirst = true

    /// Creates a serialiser that continues `output`; `lead` goes in front of the first pair, if any is written.
    init(options: ParameterEncodingOptions, continuing output: [UInt8] = [], lead: UInt8? = nil) {
        self.options = options
        self.output = output
        self.lead = lead
        keyCharacters = options.allowedKeyCharacters ?? options.allowedCharacters
        separator = Array(options.separator.utf8)
    }

    /// Writes the parameters of the top level.
    mutating func write(_ parameters: Parameters) throws(RequestError) {
        for item in ordered(parameters) {
            appendKey(item.key)
            try write(item.value)
            name.removeAll(keepingCapacity: true)
        }
    }

    // MARK: - The tree

    private func ordered(_ parameters: Parameters) -> [Parameters.Item] {
        guard options.sortsKeys, !parameters.items.areKeysAscending else { return parameters.items }
        return parameters.items.stablySortedByKey
    }

    private mutating func write(_ value: ParameterValue) throws(RequestError) {
        switch value {
        case .null: try writeNull()
        case .bool(let flag): try writeBool(flag)
        case .integer(let number): try writePair(number.description, isPlain: true)
        case .unsigned(let number): try writePair(number.description, isPlain: true)
        case .double(let number): try writePair(text(of: number))
        case .decimal(let number): try writePair(text(of: number))
        case .string(let text): try writePair(text)
        case .date(let date): try writePair(text(of: date))
        case .data(let data): try writeData(data)
        case .array(let values): try writeArray(values)
        case .dictionary(let values): try writeDictionary(values)
        }
    }

    private mutating func writeNull() throws(RequestError) {
        switch options.nulls {
        case .dropped: break
        case .empty: try writePair("")
        case .bare: try writeName()
        case .literal(let text): try writePair(text)
        }
    }

    private mutating func writeBool(_ flag: Bool) throws(RequestError) {
        switch options.booleans {
        case .numeric: try writePair(flag ? "1" : "0")
        case .literal: try writePair(flag ? "true" : "false")
        }
    }

    private mutating func writeData(_ data: Data) throws(RequestError) {
        switch options.data {
        case .base64: try writePair(data.base64EncodedString())
        case .base64URL: try writePair(data.base64URLText)
        case .deferred: try writeArray(data.map { .integer(Int64($0)) })
        case .custom(let convert):
            let text: String
            do { text = try convert(data) } catch { throw failure(.conversionFailed("\(error)")) }
            try writePair(text)
        }
    }

    private mutating func writeArray(_ values: [ParameterValue]) throws(RequestError) {
        if case .commaSeparated = options.arrays { return try writeJoined(values) }
        try descend()
        let outer = name
        if values.isEmpty, options.emptyCollections == .bare {
            appendIndex(0)
            try writeName()
        }
        for (index, value) in values.enumerated() {
            appendIndex(index)
            try write(value)
            name = outer
        }
        name = outer
        depth -= 1
    }

    private mutating func writeDictionary(_ values: Parameters) throws(RequestError) {
        try descend()
        let outer = name
        if values.isEmpty, options.emptyCollections == .bare { try writeName() }
        for item in ordered(values) {
            appendInner(item.key)
            try write(item.value)
            name = outer
        }
        depth -= 1
    }

    private mutating func writeJoined(_ values: [ParameterValue]) throws(RequestError) {
        guard !values.isEmpty else {
            if options.emptyCollections == .bare { try writeName() }
            return
        }
        var texts: [String] = []
        for value in values {
            guard let text = try leafText(value) else { continue }
            texts.append(text)
        }
        guard !texts.isEmpty else { return try writeNull() }
        try writeName()
        output.append(UInt8(ascii: "="))
        for (index, text) in texts.enumerated() {
            if index > 0 { try appendText(",", allowed: options.allowedCharacters) }
            try appendText(text, allowed: options.allowedCharacters)
        }
    }

    /// The text of a value inside a joined list; `nil` when it is left out.
    private func leafText(_ value: ParameterValue) throws(RequestError) -> String? {
        switch value {
        case .null:
            switch options.nulls {
            case .dropped: return nil
            case .empty, .bare: return ""
            case .literal(let text): return text
            }
        case .bool(let flag): return options.booleans == .numeric ? (flag ? "1" : "0") : (flag ? "true" : "false")
        case .integer(let number): return number.description
        case .unsigned(let number): return number.description
        case .double(let number): return try text(of: number)
        case .decimal(let number): return try text(of: number)
        case .string(let text): return text
        case .date(let date): return try text(of: date)
        case .data(let data): return data.base64EncodedString()
        case .array, .dictionary: throw failure(.nestedInJoinedList)
        }
    }

    // MARK: - Leaves

    private mutating func writePair(_ value: String, isPlain: Bool = false) throws(RequestError) {
        try writeName()
        output.append(UInt8(ascii: "="))
        if isPlain {
            output.append(contentsOf: value.utf8)
        } else {
            try appendText(value, allowed: options.allowedCharacters)
        }
    }

    private mutating func writeName() throws(RequestError) {
        if isFirst {
            if let lead { output.append(lead) }
            isFirst = false
        } else {
            output.append(contentsOf: separator)
        }
        if options.characterSet == .utf8 {
            appendBytes(name, allowed: keyCharacters)
        } else {
            try appendText(String(decoding: name, as: UTF8.self), allowed: keyCharacters)
        }
    }

    private mutating func appendText(_ text: String, allowed: URLCharacters) throws(RequestError) {
        guard options.characterSet == .utf8 else {
            guard let bytes = text.data(using: options.characterSet) else { throw failure(.notInCharacterSet) }
            return appendBytes([UInt8](bytes), allowed: allowed)
        }
        var text = text
        text.withUTF8 { appendBytes($0, allowed: allowed) }
    }

    private mutating func appendBytes(_ bytes: some RandomAccessCollection<UInt8>, allowed: URLCharacters) {
        let usesPlus = options.spaces == .plus
        for byte in bytes {
            if allowed.contains(byte) {
                output.append(byte)
            } else if byte == UInt8(ascii: " "), usesPlus {
                output.append(UInt8(ascii: "+"))
            } else {
                PercentEncoding.appendEscaped(byte, to: &output)
            }
        }
    }

    private func text(of number: Double) throws(RequestError) -> String {
        if number.isFinite { return number.description }
        guard case .literals(let positive, let negative, let notANumber) = options.nonFiniteNumbers else {
            throw failure(.notFinite)
        }
        return number.isNaN ? notANumber : number > 0 ? positive : negative
    }

    private func text(of number: Decimal) throws(RequestError) -> String {
        number.isNaN ? try text(of: Double.nan) : number.description
    }

    private func text(of date: Date) throws(RequestError) -> String {
        let output: ParameterDateFormat.Output
        do { output = try options.dates.output(for: date) } catch { throw failure(.conversionFailed("\(error)")) }
        switch output {
        case .number(let number): return try text(of: number)
        case .text(let text): return text
        }
    }

    // MARK: - Names

    private mutating func appendKey(_ key: String) {
        if case .unchanged = options.keyCase {
            name.append(contentsOf: key.utf8)
        } else {
            name.append(contentsOf: options.keyCase.apply(to: key).utf8)
        }
    }

    private mutating func appendIndex(_ index: Int) {
        switch options.arrays {
        case .brackets: name.append(contentsOf: "[]".utf8)
        case .repeated, .commaSeparated: break
        case .indexed: name.append(contentsOf: "[\(index)]".utf8)
        case .custom(let convert): replaceName { convert($0, index) }
        }
    }

    private mutating func appendInner(_ key: String) {
        switch options.nesting {
        case .brackets:
            name.append(UInt8(ascii: "["))
            appendKey(key)
            name.append(UInt8(ascii: "]"))
        case .dots:
            name.append(UInt8(ascii: "."))
            appendKey(key)
        case .custom(let convert):
            let inner = options.keyCase.apply(to: key)
            replaceName { convert($0, inner) }
        }
    }

    private mutating func replaceName(_ convert: (String) -> String) {
        name = Array(convert(String(decoding: name, as: UTF8.self)).utf8)
    }

    private mutating func descend() throws(RequestError) {
        depth += 1
        guard depth <= options.maximumDepth else { throw failure(.tooDeep(limit: options.maximumDepth)) }
    }

    private func failure(_ reason: RequestError.ParameterReason) -> RequestError {
        .parameter(keyPath: String(decoding: name, as: UTF8.self), reason: reason)
    }
}
