import SwitchyardServices

/// A parser for the grammar of RFC 6570 section 2.
struct URLTemplateParser {
    private let text: String
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    mutating func parse() throws(RequestError) -> [URLTemplate.Part] {
        var parts: [URLTemplate.Part] = []
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "{") {
                parts.append(try parseExpression())
            } else {
                parts.append(.literal(try parseLiteral()))
            }
        }
        return parts
    }

    private mutating func parseLiteral() throws(RequestError) -> [UInt8] {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "{") {
            guard bytes[position] != UInt8(ascii: "}") else { throw failure() }
            position += 1
        }
        return Array(bytes[start..<position])
    }

    private mutating func parseExpression() throws(RequestError) -> URLTemplate.Part {
        position += 1
        var kind = URLTemplate.Operator.simple
        if let byte = peek, let named = URLTemplate.Operator(rawValue: byte), named != .simple {
            kind = named
            position += 1
        }
        var variables: [URLTemplate.Variable] = []
        repeat {
            if !variables.isEmpty { position += 1 }
            variables.append(try parseVariable())
        } while peek == UInt8(ascii: ",")
        guard peek == UInt8(ascii: "}") else { throw failure() }
        position += 1
        return .expression(kind, variables)
    }

    private mutating func parseVariable() throws(RequestError) -> URLTemplate.Variable {
        let start = position
        var mayDot = false
        while let byte = peek, Self.isNameByte(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%") {
            if byte == UInt8(ascii: ".") {
                guard mayDot else { throw failure() }
            } else if byte == UInt8(ascii: "%") {
                guard PercentEncoding.isEscape(bytes[position...], at: position) else { throw failure() }
                position += 2
            }
            mayDot = byte != UInt8(ascii: ".")
            position += 1
        }
        guard position > start, mayDot else { throw failure() }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        if peek == UInt8(ascii: "*") {
            position += 1
            return URLTemplate.Variable(name: name, prefix: nil, explodes: true)
        }
        return URLTemplate.Variable(name: name, prefix: try parsePrefix(), explodes: false)
    }

    private mutating func parsePrefix() throws(RequestError) -> Int? {
        guard peek == UInt8(ascii: ":") else { return nil }
        position += 1
        let start = position
        while let byte = peek, byte.isDigit, position - start < 4 { position += 1 }
        let digits = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let length = Int(digits), bytes[start] != UInt8(ascii: "0") else {
            position = start
            throw failure()
        }
        return length
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        URLParts.isLetter(byte) || byte.isDigit || byte == UInt8(ascii: "_")
    }

    private func failure() -> RequestError {
        .template(text: text, reason: .syntax(offset: position))
    }
}
