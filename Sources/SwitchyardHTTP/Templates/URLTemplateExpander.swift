import Foundation

/// Expands a template as RFC 6570 section 3 says.
struct URLTemplateExpander {
    private let template: URLTemplate
    private let values: Parameters
    private let missing: URLTemplate.MissingValues
    private var output: [UInt8] = []

    init(template: URLTemplate, values: Parameters, missing: URLTemplate.MissingValues) {
        self.template = template
        self.values = values
        self.missing = missing
    }

    mutating func expand() throws(RequestError) -> String {
        for (index, part) in template.parts.enumerated() {
            switch part {
            case .literal(let bytes): append(bytes, keepsReserved: true)
            case .expression(let kind, let variables):
                try expand(kind, variables, before: template.parts.dropFirst(index + 1).first)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func expand(
        _ kind: URLTemplate.Operator,
        _ variables: [URLTemplate.Variable],
        before next: URLTemplate.Part?
    ) throws(RequestError) {
        var isFirst = true
        for (index, variable) in variables.enumerated() {
            guard let value = values[variable.name], let pieces = try Pieces(value, of: variable, kind, in: template)
            else {
                if missing == .refusedInPath, kind.needsValue { throw failure(.missingValue(variable.name)) }
                continue
            }
            let behind = index + 1 < variables.count ? kind.separator.utf8.first : Self.beginning(of: next)
            let isWhole = isSegment(from: isFirst ? kind.first : kind.separator, to: behind)
            let leadsElsewhere = pieces.holdDotSegment || isWhole && pieces.leaveHole(in: variable, kind)
            if missing == .refusedInPath, kind.needsValue, leadsElsewhere {
                // Escaped or not, a dot segment leads elsewhere: to another path than the one that was written down. So
                // does nothing: to the collection in place of the item.
                throw failure(.unusableValue(variable.name))
            }
            output += (isFirst ? kind.first : kind.separator).utf8
            isFirst = false
            append(pieces, of: variable, kind)
        }
    }

    /// Whether a value has a segment of the path to itself, with what goes before it and the byte behind it.
    private func isSegment(from beginning: String, to end: UInt8?) -> Bool {
        let slash = UInt8(ascii: "/"), ends = [slash, UInt8(ascii: "?"), UInt8(ascii: "#")]
        guard !output.contains(ends[1]), !output.contains(ends[2]) else { return false }
        return (beginning.utf8.last ?? output.last ?? slash) == slash && (end.map(ends.contains) ?? true)
    }

    /// The byte with which a part begins, as far as that is known; `nil` at the end.
    private static func beginning(of part: URLTemplate.Part?) -> UInt8? {
        switch part {
        case nil: nil
        case .literal(let bytes): bytes.first
        case .expression(let kind, _): kind.first.utf8.first ?? 0
        }
    }

    private mutating func append(_ pieces: Pieces, of variable: URLTemplate.Variable, _ kind: URLTemplate.Operator) {
        switch pieces {
        case .text(let text):
            if kind.isNamed { appendName(variable.name, isEmpty: text.isEmpty, kind) }
            append(Array(text.utf8), keepsReserved: kind.allowsReserved)
        case .list(let texts):
            if kind.isNamed, !variable.explodes { appendName(variable.name, isEmpty: false, kind) }
            for (index, text) in texts.enumerated() {
                if index > 0 { output += (variable.explodes ? kind.separator : ",").utf8 }
                if kind.isNamed, variable.explodes { appendName(variable.name, isEmpty: text.isEmpty, kind) }
                append(Array(text.utf8), keepsReserved: kind.allowsReserved)
            }
        case .pairs(let pairs):
            if kind.isNamed, !variable.explodes { appendName(variable.name, isEmpty: false, kind) }
            for (index, pair) in pairs.enumerated() {
                if index > 0 { output += (variable.explodes ? kind.separator : ",").utf8 }
                append(Array(pair.name.utf8), keepsReserved: kind.allowsReserved)
                let isBare = variable.explodes && kind == .matrix && pair.value.isEmpty
                if !isBare { output.append(UInt8(ascii: variable.explodes ? "=" : ",")) }
                append(Array(pair.value.utf8), keepsReserved: kind.allowsReserved)
            }
        }
    }

    private mutating func appendName(_ name: String, isEmpty: Bool, _ kind: URLTemplate.Operator) {
        output += name.utf8
        if !isEmpty || kind != .matrix { output.append(UInt8(ascii: "=")) }
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
    /// A value in the forms that a template knows.
    private enum Pieces {
        case text(String)
        case list([String])
        case pairs([(name: String, value: String)])

        /// `nil` for a value that counts as undefined.
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

        /// Whether a value is `.` or `..` as a whole.
        var holdDotSegment: Bool {
            switch self {
            case .text(let text): text == "." || text == ".."
            case .list(let texts): texts.contains { $0 == "." || $0 == ".." }
            case .pairs(let pairs): pairs.contains { $0.value == "." || $0.value == ".." }
            }
        }

        /// Whether a value leaves a part of the path empty.
        func leaveHole(in variable: URLTemplate.Variable, _ kind: URLTemplate.Operator) -> Bool {
            switch self {
            case .text(let text): text.isEmpty
            case .list(let texts): variable.explodes && kind == .path ? texts.contains("") : texts == [""]
            case .pairs: false
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

        /// The text of a single value; `nil` for what is none, or has no text.
        private static func text(of value: ParameterValue) -> String? {
            switch value {
            case .null, .array, .dictionary: nil
            case .bool(let flag): flag ? "true" : "false"
            case .integer(let number): number.description
            case .unsigned(let number): number.description
            case .double(let number): number.isFinite ? number.description : nil
            case .decimal(let number): number.isNaN ? nil : number.description
            case .string(let text): text
            case .date(let date): try? ParameterDateFormat.iso8601.text(for: date)
            case .data(let data): data.base64URLText
            }
        }
    }
}
