import Foundation

/// Values that are derived once from the options of a serializer.
package final class ParameterSerializerPlan: Sendable {
    package let options: ParameterEncodingOptions
    let keyCharacters: URLCharacters
    let usesPlus: Bool
    let isUTF8: Bool
    let changesKeys: Bool

    package init(_ options: ParameterEncodingOptions) {
        self.options = options
        keyCharacters = options.allowedKeyCharacters ?? options.allowedCharacters
        usesPlus = options.spaces == .plus
        isUTF8 = options.characterSet == .utf8
        if case .unchanged = options.keyCase { changesKeys = false } else { changesKeys = true }
    }
}

extension ByteBuffer {
    /// Returns the separator between a URL and the first parameter that is appended to it, or `nil` if none is needed.
    ///
    /// A question mark at the end of the URL starts the query only if it is the first question mark, because a value
    /// may contain further question marks (RFC 3986 section 3.4).
    package func queryLead(_ separator: String = "&") -> ParameterSerializer.Lead? {
        withBytes { bytes in
            guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return .questionMark }
            let followsSeparator = !separator.isEmpty && bytes.reversed().starts(with: separator.utf8.reversed())
            let isOpen = mark == bytes.count - 1 || bytes.last == UInt8(ascii: "&") || followsSeparator
            return isOpen ? nil : .separator
        }
    }
}

/// A serializer of parameters as `key=value&...` into a buffer of bytes.
///
/// The name of the current value is stored as plain text that grows and shrinks with the nesting. The name is
/// percent-encoded once per value. For flat parameters only the output is allocated.
package struct ParameterSerializer: ~Copyable {
    private let plan: ParameterSerializerPlan
    /// The separator before the first pair.
    package enum Lead {
        /// The `?` after a URL without a query.
        case questionMark
        /// The separator between two pairs.
        case separator
    }

    private let lead: Lead?
    private var name = ""
    private var depth = 0
    private var isFirst = true
    /// The pairs without percent-encoding, if they are collected instead of written.
    private var collected: [(name: String, value: String)]?

    private var options: ParameterEncodingOptions {
        _read { yield plan.options }
    }

    /// Creates a serializer.
    ///
    /// If there is at least one pair, `lead` is written before the first pair.
    package init(_ plan: ParameterSerializerPlan, lead: Lead? = nil) {
        self.plan = plan
        self.lead = lead
    }

    /// Writes the top-level parameters.
    package mutating func write(_ parameters: Parameters, to output: inout ByteBuffer) throws(RequestError) {
        for item in ordered(parameters) {
            name = key(item.key)
            try write(item.value, to: &output)
        }
    }

    /// Returns the names and values of all parameters, without percent-encoding.
    static func pairs(
        of parameters: Parameters,
        options: ParameterEncodingOptions
    ) throws(RequestError) -> [(name: String, value: String)] {
        var serializer = ParameterSerializer(ParameterSerializerPlan(options))
        serializer.collected = []
        var unused = ByteBuffer(capacity: 0)
        try serializer.write(parameters, to: &unused)
        return serializer.collected ?? []
    }

    // MARK: - The tree

    private func ordered(_ parameters: Parameters) -> [Parameters.Item] {
        guard options.sortsKeys, !parameters.items.areKeysAscending else { return parameters.items }
        return parameters.items.stablySortedByKey
    }

    private mutating func write(_ value: ParameterValue, to output: inout ByteBuffer) throws(RequestError) {
        switch value {
        case .null: try writeNull(to: &output)
        case .bool(let flag): try writePair(text(of: flag), to: &output)
        case .integer(let number):
            guard collected == nil else { return try writePair(number.description, to: &output) }
            try writeName(to: &output)
            output.append(UInt8(ascii: "="))
            output.append(number)
        case .unsigned(let number): try writePair(number.description, to: &output)
        case .double(let number): try writePair(text(of: number), to: &output)
        case .decimal(let number): try writePair(text(of: number), to: &output)
        case .string(let text): try writePair(text, to: &output)
        case .date(let date): try writePair(text(of: date), to: &output)
        case .data(let data): try writeData(data, to: &output)
        case .array(let values): try writeArray(values, to: &output)
        case .dictionary(let values): try writeDictionary(values, to: &output)
        }
    }

    private mutating func writeNull(to output: inout ByteBuffer) throws(RequestError) {
        switch options.nulls {
        case .dropped: break
        case .empty: try writePair("", to: &output)
        case .bare: try writeName(to: &output)
        case .literal(let text): try writePair(text, to: &output)
        }
    }

    private mutating func writeData(_ data: Data, to output: inout ByteBuffer) throws(RequestError) {
        guard let text = try text(of: data) else {
            return try writeArray(data.map { .integer(Int64($0)) }, to: &output)
        }
        try writePair(text, to: &output)
    }

    private mutating func writeArray(_ values: [ParameterValue], to output: inout ByteBuffer) throws(RequestError) {
        if case .commaSeparated = options.arrays { return try writeJoined(values, to: &output) }
        let outer = name
        try descend()
        if values.isEmpty, options.emptyCollections == .bare {
            if case .indexed = options.arrays { name += "[]" } else { name = element(0, of: outer) }
            try writeName(to: &output)
        }
        for (index, value) in values.enumerated() {
            name = element(index, of: outer)
            try write(value, to: &output)
        }
        name = outer
        depth -= 1
    }

    private mutating func writeDictionary(_ values: Parameters, to output: inout ByteBuffer) throws(RequestError) {
        let outer = name
        try descend()
        if values.isEmpty, options.emptyCollections == .bare { try writeName(to: &output) }
        for item in ordered(values) {
            name = member(item.key, of: outer)
            try write(item.value, to: &output)
        }
        name = outer
        depth -= 1
    }

    private mutating func writeJoined(_ values: [ParameterValue], to output: inout ByteBuffer) throws(RequestError) {
        guard !values.isEmpty else {
            if options.emptyCollections == .bare { try writeName(to: &output) }
            return
        }
        var texts: [String] = []
        for value in values {
            guard let text = try leafText(value) else { continue }
            texts.append(text)
        }
        let isNull = values.allSatisfy { $0 == .null }
        guard !isNull, !texts.isEmpty else { return try writeNull(to: &output) }
        guard collected == nil else { return try writePair(texts.joined(separator: ","), to: &output) }
        try writeName(to: &output)
        output.append(UInt8(ascii: "="))
        for (index, text) in texts.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            try append(text, allowed: options.allowedCharacters, to: &output)
        }
    }

    // MARK: - Pairs

    private mutating func writePair(_ value: String, to output: inout ByteBuffer) throws(RequestError) {
        guard collected == nil else {
            collected?.append((name, value))
            return
        }
        try writeName(to: &output)
        output.append(UInt8(ascii: "="))
        try append(value, allowed: options.allowedCharacters, to: &output)
    }

    private mutating func writeName(to output: inout ByteBuffer) throws(RequestError) {
        guard collected == nil else {
            collected?.append((name, ""))
            return
        }
        switch isFirst ? lead : .separator {
        case .questionMark: output.append(UInt8(ascii: "?"))
        case .separator: output.append(options.separator)
        case nil: break
        }
        isFirst = false
        try append(name, allowed: plan.keyCharacters, to: &output)
    }

    private func append(_ text: String, allowed: URLCharacters, to output: inout ByteBuffer) throws(RequestError) {
        if plan.isUTF8 {
            var text = text
            text.withUTF8 { output.appendEscaping($0, allowed: allowed, plus: plan.usesPlus) }
        } else {
            guard let data = text.data(using: options.characterSet) else { throw failure(.notInCharacterSet) }
            Array(data).withUnsafeBufferPointer { output.appendEscaping($0, allowed: allowed, plus: plan.usesPlus) }
        }
    }

    // MARK: - Names

    private func key(_ key: String) -> String {
        plan.changesKeys ? options.keyCase.apply(to: key) : key
    }

    private func element(_ index: Int, of outer: String) -> String {
        switch options.arrays {
        case .brackets: outer + "[]"
        case .repeated, .commaSeparated: outer
        case .indexed: "\(outer)[\(index)]"
        case .custom(let convert): convert(outer, index)
        }
    }

    private func member(_ inner: String, of outer: String) -> String {
        switch options.nesting {
        case .brackets: "\(outer)[\(key(inner))]"
        case .dots: "\(outer).\(key(inner))"
        case .custom(let convert): convert(outer, key(inner))
        }
    }

    private mutating func descend() throws(RequestError) {
        depth += 1
        guard depth <= options.maximumDepth else { throw failure(.tooDeep(limit: options.maximumDepth)) }
    }

    private func failure(_ reason: RequestError.ParameterReason) -> RequestError {
        .parameter(keyPath: name, reason: reason)
    }
}

// MARK: - Leaves

extension ParameterSerializer {
    /// Returns the text of a value in a joined list, or `nil` if the value is omitted.
    private func leafText(_ value: ParameterValue) throws(RequestError) -> String? {
        switch value {
        case .null:
            switch options.nulls {
            case .dropped: nil
            case .empty, .bare: ""
            case .literal(let text): text
            }
        case .bool(let flag): text(of: flag)
        case .integer(let number): number.description
        case .unsigned(let number): number.description
        case .double(let number): try text(of: number)
        case .decimal(let number): try text(of: number)
        case .string(let text): text
        case .date(let date): try text(of: date)
        case .data(let data): try text(of: data) ?? data.map(\.description).joined(separator: ",")
        case .array, .dictionary: throw failure(.nestedInJoinedList)
        }
    }

    private func text(of flag: Bool) -> String {
        switch options.booleans {
        case .numeric: flag ? "1" : "0"
        case .literal: flag ? "true" : "false"
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
        let output: ParameterEncodingOptions.DateFormat.Output
        do { output = try options.dates.output(for: date) } catch { throw failure(.conversionFailed("\(error)")) }
        switch output {
        case .number(let number): return try text(of: number)
        case .text(let text): return text
        }
    }

    /// Returns the text of bytes, or `nil` if they are written as a list of numbers.
    private func text(of data: Data) throws(RequestError) -> String? {
        switch options.data {
        case .base64: return data.base64EncodedString()
        case .base64URL: return data.base64URLText
        case .deferred: return nil
        case .custom(let convert):
            do { return try convert(data) } catch { throw failure(.conversionFailed("\(error)")) }
        }
    }
}

extension Parameters {
    /// Returns the parameters as `key=value&...`.
    package func text(_ options: ParameterEncodingOptions) throws(RequestError) -> String {
        var output = ByteBuffer(capacity: 64)
        var serializer = ParameterSerializer(ParameterSerializerPlan(options))
        try serializer.write(self, to: &output)
        return output.text()
    }
}
