import Foundation
import SwitchyardFixtures

@testable import SwitchyardGenerator

/// Random changes to documents.
struct Mutation {
    var random: SeededGenerator

    /// Texts that have a meaning in JSON, YAML or OpenAPI.
    private static var pieces: [String] {
        [
            "{", "}", "[", "]", ":", ": ", ",", "- ", "? ", "#", "&a ", "*a", "| ", ">-\n", "\"", "'", "\\", "\\u12",
            "!!str ", "---\n", "...\n", "\n", "\t", "\r\n", "  ", "<<: *a\n", "%", "\u{FEFF}", "\u{0}", "null", "true",
            "1e999", "-", "é", "🦊", "$ref", "allOf", "type", "object", "properties", "{}", "[]", "~",
        ]
    }

    /// Strings that have a meaning in OpenAPI.
    private static var words: [String] {
        [
            "", "null", "object", "string", "integer", "array", "binary", "date-time", "query", "path", "/a/{b}", "é 🦊",
            "#/components/schemas/Product", "#/components/schemas/Category", "#/paths", "shop.yaml#/", "deepObject",
        ]
    }

    // MARK: - Text

    /// Changes one to four places of a text.
    mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty { changePlace(of: &bytes) }
        return bytes
    }

    private mutating func changePlace(of bytes: inout [UInt8]) {
        let start = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[start] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(start..<end)
        case 2: bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &random))
        case 3: bytes.removeSubrange(start...)
        case 4: bytes.swapAt(start, Int.random(in: 0..<bytes.count, using: &random))
        default: bytes.insert(contentsOf: Array((Self.pieces.randomElement(using: &random) ?? "").utf8), at: start)
        }
    }

    // MARK: - Trees

    /// Replaces some values of a document by other values of the same document, or by unexpected values.
    ///
    /// Every value is replaced with a probability of 1 in `rarity`.
    mutating func changed(_ node: Node, among all: [Node], rarity: Int) -> Node {
        if Int.random(in: 0..<rarity, using: &random) == 0 { return replacement(among: all) }
        switch node.value {
        case .list(let elements):
            return Node(.list(elements.map { changed($0, among: all, rarity: rarity) }), at: node.position)
        case .map(let members):
            let changes = members.map { member in
                Node.Member(key: member.key, value: changed(member.value, among: all, rarity: rarity))
            }
            return Node(.map(changes), at: node.position)
        default: return node
        }
    }

    private mutating func replacement(among all: [Node]) -> Node {
        let position = Position(line: 1, column: 1)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Node(.null, at: position)
        case 1: return Node(.bool(.random(using: &random)), at: position)
        case 2: return Node(.number("-1.5"), at: position)
        case 3: return Node(.list([]), at: position)
        case 4: return Node(.map([]), at: position)
        case 5: return Node(.string(Self.words.randomElement(using: &random) ?? ""), at: position)
        default: return all.randomElement(using: &random) ?? Node(.null, at: position)
        }
    }

    /// Returns a node and all nodes within it.
    static func all(_ node: Node) -> [Node] {
        switch node.value {
        case .list(let elements): [node] + elements.flatMap(all)
        case .map(let members): [node] + members.flatMap { all($0.value) }
        default: [node]
        }
    }
}
