import Foundation

/// An expander of templates (RFC 6570 section 3).
struct URLTemplateExpander {
    private let template: URLTemplate
    private let values: Parameters
    private let missing: URLTemplate.MissingValues
    private var output: [UInt8] = []
    /// The start of the current path segment in the output, or `nil` if the path has ended.
    private var segment: Int? = 0
    /// The last variable whose value is in the current segment, or `nil` if there is none or its value is a path.
    private var variableInSegment: String?

    init(template: URLTemplate, values: Parameters, missing: URLTemplate.MissingValues) {
        self.template = template
        self.values = values
        self.missing = missing
    }

    mutating func expand() throws(RequestError) -> String {
        for part in template.parts {
            switch part {
            case .literal(let bytes): try append(reserved: bytes)
            case .expression(let kind, let variables): try expand(kind, variables)
            }
        }
        try checkSegment()
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func expand(
        _ kind: URLTemplate.Operator,
        _ variables: [URLTemplate.Variable]
    ) throws(RequestError) {
        var isFirst = true
        for variable in variables {
            guard let value = values[variable.name], let pieces = try Pieces(value, of: variable, kind, in: template)
            else {
                if missing == .refusedInPath, kind.needsValue { throw failure(.missingValue(variable.name)) }
                continue
            }
            try append(delimiter: isFirst ? kind.first : kind.separator)
            isFirst = false
            try append(pieces, of: variable, kind)
        }
    }

    private mutating func append(
        _ pieces: Pieces,
        of variable: URLTemplate.Variable,
        _ kind: URLTemplate.Operator
    ) throws(RequestError) {
        let separator = variable.explodes ? kind.separator : ","
        switch pieces {
        case .text(let text):
            if kind.isNamed { appendName(variable.name, isEmpty: text.isEmpty, kind) }
            try append(value: text, of: variable, kind)
        case .list(let texts):
            if kind.isNamed, !variable.explodes { appendName(variable.name, isEmpty: false, kind) }
            for (index, text) in texts.enumerated() {
                if index > 0 { try append(delimiter: separator) }
                if kind.isNamed, variable.explodes { appendName(variable.name, isEmpty: text.isEmpty, kind) }
                try append(value: text, of: variable, kind)
            }
        case .pairs(let pairs):
            if kind.isNamed, !variable.explodes { appendName(variable.name, isEmpty: false, kind) }
            for (index, pair) in pairs.enumerated() {
                if index > 0 { try append(delimiter: separator) }
                try append(value: pair.name, of: variable, kind)
                let isBare = variable.explodes && kind == .matrix && pair.value.isEmpty
                if !isBare { output.append(UInt8(ascii: variable.explodes ? "=" : ",")) }
                try append(value: pair.value, of: variable, kind)
            }
        }
    }

    private mutating func appendName(_ name: String, isEmpty: Bool, _ kind: URLTemplate.Operator) {
        output += name.utf8
        if !isEmpty || kind != .matrix { output.append(UInt8(ascii: "=")) }
    }

    private mutating func append(
        value: String,
        of variable: URLTemplate.Variable,
        _ kind: URLTemplate.Operator
    ) throws(RequestError) {
        let name = kind.needsValue ? variable.name : nil
        if kind.allowsReserved { return try append(reserved: Array(value.utf8), of: name) }
        variableInSegment = name ?? variableInSegment
        append(Array(value.utf8), keepsReserved: false)
    }

    /// Appends a literal, or a value whose slashes and question marks keep their meaning in a URL.
    private mutating func append(reserved bytes: [UInt8], of variable: String? = nil) throws(RequestError) {
        var rest = bytes[...]
        while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || Self.endsPath($0) }) {
            append(Array(rest[..<end]), keepsReserved: true)
            try append(delimiter: String(UnicodeScalar(rest[end])))
            rest = rest[(end + 1)...]
        }
        // A value that contains delimiters is itself a path, so its segments are not checked.
        if let variable, rest.count == bytes.count { variableInSegment = variable }
        append(Array(rest), keepsReserved: true)
    }

    /// Appends the text before or between values.
    ///
    /// This text may end a path segment.
    private mutating func append(delimiter: String) throws(RequestError) {
        guard let byte = delimiter.utf8.first else { return }
        guard byte == UInt8(ascii: "/") || Self.endsPath(byte) else { return output.append(byte) }
        try checkSegment()
        output.append(byte)
        variableInSegment = nil
        segment = segment == nil || Self.endsPath(byte) ? nil : output.count
    }

    private static func endsPath(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    /// Throws an error if values have made a segment empty or a dot segment, escaped or not.
    ///
    /// With such a segment, the URL would have another path than the template, for example the path of the collection
    /// instead of the item.
    private func checkSegment() throws(RequestError) {
        guard missing == .refusedInPath, let segment, let variableInSegment else { return }
        guard output.count == segment || DotSegments.isOne(output[segment...]) else { return }
        throw failure(.unusableValue(variableInSegment))
    }

    private static let reserved = URLCharacters.unreserved.union(URLCharacters(":/?#[]@!$&'()*+,;="))

    private mutating func append(_ bytes: [UInt8], keepsReserved: Bool) {
        let allowed = keepsReserved ? Self.reserved : .unreserved
        PercentEncoding.append(bytes, allowed: allowed, keepingEscapes: keepsReserved, to: &output)
    }

    private func failure(_ reason: RequestError.TemplateReason) -> RequestError {
        .template(text: template.text, reason: reason)
    }
}

extension URLTemplateExpander {
    /// A value in one of the forms of RFC 6570.
    private enum Pieces {
        case text(String)
        case list([String])
        case pairs([(name: String, value: String)])

        /// Creates the form for a value, or returns `nil` if the value counts as undefined.
        init?(
            _ value: ParameterValue,
            of variable: URLTemplate.Variable,
            _ kind: URLTemplate.Operator,
            in template: URLTemplate
        ) throws(RequestError) {
            let unusable = RequestError.template(text: template.text, reason: .unusableValue(variable.name))
            switch value {
            case .null: return nil
            case .array(let values):
                guard variable.prefix == nil, let texts = Self.texts(values.filter { $0 != .null }) else {
                    throw unusable
                }
                if texts.isEmpty { return nil }
                self = .list(texts)
            case .dictionary(let parameters):
                guard variable.prefix == nil else { throw unusable }
                var pairs: [(name: String, value: String)] = []
                for item in parameters.items where item.value != .null {
                    let texts = try Self.texts(of: item.value, unusable)
                    pairs += texts.map { (item.key, $0) }
                }
                if pairs.isEmpty { return nil }
                self = .pairs(pairs)
            default:
                guard let text = Self.text(of: value) else { throw unusable }
                self = .text(variable.prefix.map { kind.beginning($0, of: text) } ?? text)
            }
        }

        private static func texts(_ values: [ParameterValue]) -> [String]? {
            let texts = values.map(text(of:))
            return texts.contains(nil) ? nil : texts.compactMap(\.self)
        }

        private static func texts(of value: ParameterValue, _ unusable: RequestError) throws(RequestError) -> [String] {
            if case .array(let values) = value {
                guard let texts = texts(values) else { throw unusable }
                return texts
            }
            guard let text = text(of: value) else { throw unusable }
            return [text]
        }

        /// Returns the text of a single value, or `nil` if it is not a single value or has no text.
        private static func text(of value: ParameterValue) -> String? {
            switch value {
            case .null, .array, .dictionary: nil
            case .bool(let flag): flag ? "true" : "false"
            case .integer(let number): number.description
            case .unsigned(let number): number.description
            case .double(let number): number.isFinite ? number.description : nil
            case .decimal(let number): number.isNaN ? nil : number.description
            case .string(let text): text
            case .date(let date): try? ISODate.text(date, milliseconds: false)
            case .data(let data): data.base64URLText
            }
        }
    }
}
