import SwitchyardClient
import SwitchyardHTTP

/// A parser that reads one line of the `Link` header field in one pass (RFC 8288 appendix B.2 and B.3).
struct LinkHeaderParser {
    private let bytes: [UInt8]
    private let lastBracket: Int
    private var position = 0

    init(_ line: String) {
        bytes = Array(line.utf8)
        lastBracket = bytes.lastIndex(of: UInt8(ascii: ">")) ?? -1
    }

    /// Returns the links in the line.
    mutating func links() -> [WebLink] {
        var links: [WebLink] = []
        while position < bytes.count {
            skip { $0 == UInt8(ascii: ",") || $0.isOptionalWhitespace }
            guard position < bytes.count else { break }
            if let link = link() { links.append(link) } else { skipElement() }
        }
        return links
    }

    private mutating func link() -> WebLink? {
        guard take(UInt8(ascii: "<")), position <= lastBracket,
            let end = bytes[position...].firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        let target = text(position..<end)
        position = end + 1
        let parameters = parameters()
        let relations = parameters.first { $0.name == "rel" }?.value ?? ""
        return WebLink(
            target: target,
            relations: relations.split(whereSeparator: \.isWhitespace).map { $0.lowercased() },
            anchor: parameters.first { $0.name == "anchor" }?.value,
            parameters: Self.decoded(firsts(of: parameters))
        )
    }

    /// Returns the parameters with the extended form of RFC 8187 decoded.
    ///
    /// A parameter in the extended form replaces the plain parameter with the same name.
    private static func decoded(_ parameters: [WebLink.Parameter]) -> [WebLink.Parameter] {
        guard parameters.contains(where: { $0.name.last == "*" }) else { return parameters }
        let extended = parameters.compactMap { parameter -> WebLink.Parameter? in
            guard parameter.name.last == "*", let value = ExtendedValue.decoded(parameter.value) else { return nil }
            let name = String(parameter.name.dropLast())
            // The relation and the anchor of a link are not shown to users, so they have no extended form.
            return name == "rel" || name == "anchor" ? nil : WebLink.Parameter(name: name, value: value)
        }
        let names = Set(extended.map(\.name))
        return parameters.filter { $0.name.last != "*" && !names.contains($0.name) } + extended
    }

    private func firsts(of parameters: [WebLink.Parameter]) -> [WebLink.Parameter] {
        var seen: Set<String> = ["rel", "anchor"]
        let once: Set<String> = ["media", "title", "title*", "type"]
        return parameters.filter { parameter in
            once.contains(parameter.name) || seen.contains(parameter.name)
                ? seen.insert(parameter.name).inserted : true
        }
    }

    private mutating func parameters() -> [WebLink.Parameter] {
        var parameters: [WebLink.Parameter] = []
        while true {
            skip(while: \.isOptionalWhitespace)
            guard take(UInt8(ascii: ";")) else { return parameters }
            skip(while: \.isOptionalWhitespace)
            let name = token()
            skip(while: \.isOptionalWhitespace)
            var value = ""
            if take(UInt8(ascii: "=")) {
                skip(while: \.isOptionalWhitespace)
                value = take(UInt8(ascii: "\"")) ? quoted() : unquoted()
            }
            if !name.isEmpty { parameters.append(WebLink.Parameter(name: name.lowercased(), value: value)) }
        }
    }

    private mutating func token() -> String {
        let start = position
        skip { byte in !byte.isOptionalWhitespace && !",;=\"".utf8.contains(byte) }
        return text(start..<position)
    }

    /// Reads a value without quotes: everything up to the next parameter or link, including equals signs but without
    /// trailing spaces.
    private mutating func unquoted() -> String {
        let start = position
        skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let end = bytes[start..<position].lastIndex { !$0.isOptionalWhitespace }
        return text(start..<(end.map { $0 + 1 } ?? start))
    }

    private mutating func quoted() -> String {
        var value: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                value.append(bytes[position])
                position += 1
            } else {
                value.append(byte)
            }
        }
        return String(decoding: value, as: UTF8.self)
    }

    /// Skips an element that is not a link, up to the comma that ends it.
    private mutating func skipElement() {
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") {
            position += 1
            if bytes[position - 1] == UInt8(ascii: "\"") { _ = quoted() }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) { position += 1 }
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab.
    fileprivate var isOptionalWhitespace: Bool { self == 0x20 || self == 0x09 }
}
