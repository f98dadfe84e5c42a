/// Functions that convert names of a document to Swift names.
enum SwiftName {
    /// The words that are written in upper case in Swift names, such as `ID`.
    private static let acronyms: Set<String> = [
        "id", "url", "uri", "html", "json", "xml", "api", "http", "https", "sha", "ssh", "ip", "ui", "uuid", "pdf",
        "csv", "sms", "gpg", "mime", "sso", "ssl", "tls", "dns", "iban", "ai", "cdn", "cpu", "gpu", "jwt", "mfa", "nat",
        "nfs", "otp", "sdk", "sql", "tcp", "udp", "vpc", "vpn",
    ]

    /// The words for symbols that would otherwise be the only difference between two names.
    private static let symbols: [Character: String] = ["<": "before", ">": "after", "+": "plus"]

    /// The words for the symbols of a name that consists only of symbols.
    private static let allSymbols: [Character: String] = [
        "<": "less than", ">": "greater than", "+": "plus", "-": "minus", "=": "equal", "*": "star", "/": "slash",
        "@": "at", "$": "dollar", "#": "number", "%": "percent", "&": "and", "!": "not", "?": "question",
        "_": "underscore",
        ".": "dot", ",": "comma", ":": "colon", ";": "semicolon", "~": "tilde", "^": "caret", "|": "pipe", " ": "space",
        "(": "open", ")": "close", "[": "open bracket", "]": "close bracket", "{": "open brace", "}": "close brace",
    ]

    /// Splits a name into words in lower case.
    static func words(of name: String) -> [String] {
        let words = plainWords(of: name)
        if !words.isEmpty { return words }
        if name.isEmpty { return ["empty"] }
        let spelled = name.compactMap { allSymbols[$0] }.joined(separator: " ").split(separator: " ").map(String.init)
        return spelled.isEmpty ? name.unicodeScalars.map { "u" + String($0.value, radix: 16) } : spelled
    }

    private static func plainWords(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        let characters = Array(name)
        func end() {
            if !word.isEmpty { words.append(word.lowercased()) }
            word = ""
        }
        for (index, character) in characters.enumerated() {
            let next = index + 1 < characters.count ? characters[index + 1] : " "
            if let symbol = symbols[character], characters.count > 1 {
                end()
                words.append(symbol)
            } else if character == "-", index == 0, next.isNumber {
                words.append("minus")
            } else if !isWord(character) {
                end()
            } else {
                let previous = word.last
                let begins =
                    character.isUppercase && (previous?.isUppercase == false || (previous != nil && next.isLowercase))
                if begins, endsAcronym(word, character, next, characters, index) {
                    word.append(character)
                    end()
                    continue
                }
                if begins, !isPlural(word, character, next, characters, index) { end() }
                word.append(character)
            }
        }
        end()
        return words
    }

    /// Returns whether a lower-case "s" after an acronym is its plural, as in `IDs`.
    private static func isPlural(
        _ word: String,
        _ character: Character,
        _ next: Character,
        _ all: [Character],
        _ index: Int
    ) -> Bool {
        guard next == "s", word.allSatisfy(\.isUppercase), character.isUppercase else { return false }
        let after = index + 2 < all.count ? all[index + 2] : " "
        return !after.isLowercase
    }

    /// Returns whether a character is the last one of an acronym before a word in lower case, as in `APIkey`.
    private static func endsAcronym(
        _ word: String,
        _ character: Character,
        _ next: Character,
        _ all: [Character],
        _ index: Int
    ) -> Bool {
        guard word.count > 1, word.allSatisfy(\.isUppercase), next.isLowercase else { return false }
        guard !isPlural(word, character, next, all, index) else { return false }
        return acronyms.contains((word + String(character)).lowercased())
    }

    private static func isWord(_ character: Character) -> Bool {
        if let ascii = character.asciiValue {
            return ascii.isDecimalDigit || (ascii | 0x20 >= 0x61 && ascii | 0x20 <= 0x7A)
        }
        return character.isLetter && character.unicodeScalars.count == 1
    }

    // MARK: - Joining words

    /// Joins words to the name of a type, in upper camel case.
    static func type(_ words: [String]) -> String {
        let name = words.map(capitalised).joined()
        return name.first?.isNumber == true ? "Value" + name : name
    }

    /// Joins words to the name of a member, in lower camel case.
    static func member(_ words: [String]) -> String {
        guard let first = words.first else { return "value" }
        let name = first + words.dropFirst().map(capitalised).joined()
        return name.first?.isNumber == true ? "value" + name : name
    }

    /// Returns a word as a part of a camel-case name, such as `ID`, `IDs`, `SHA256` or `Name`.
    private static func capitalised(_ word: String) -> String {
        let letters = String(word.prefix { !$0.isNumber })
        let rest = word.dropFirst(letters.count)
        if letters == "oauth" { return "OAuth" + rest }
        if acronyms.contains(letters) { return letters.uppercased() + rest }
        let singular = String(letters.dropLast())
        if letters.hasSuffix("s"), acronyms.contains(singular) { return singular.uppercased() + "s" + rest }
        return word.prefix(1).uppercased() + word.dropFirst()
    }

    /// Returns the name of a member for a text.
    ///
    /// If the name is a keyword, it is not in backticks yet.
    static func member(of text: String) -> String {
        let name = member(words(of: text))
        return ["self", "init", "type", "Type", "Protocol"].contains(name) && name != "type" ? name + "Value" : name
    }

    static func type(of text: String) -> String { type(words(of: text)) }

    // MARK: - Keywords

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else",
        "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as",
        "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
    ]

    /// Returns the name, in backticks if it is a keyword.
    static func escaped(_ name: String) -> String { keywords.contains(name) && name != "open" ? "`\(name)`" : name }

    /// Returns the name as an argument label.
    ///
    /// Only a few keywords need backticks at this position.
    static func label(_ name: String) -> String { ["inout", "var", "let"].contains(name) ? "`\(name)`" : name }

    /// Returns the name for use after a dot.
    ///
    /// Only a few keywords need backticks at this position.
    static func afterDot(_ name: String) -> String { ["init", "self", "Type"].contains(name) ? "`\(name)`" : name }

    /// Returns the literal of a list of strings: one string with spaces between its parts, or an array if a part
    /// contains a space.
    static func words(_ texts: [String]) -> String {
        let isPlain = texts.allSatisfy { !$0.isEmpty && !$0.contains(" ") }
        return isPlain ? literal(texts.joined(separator: " ")) : "[\(texts.map(literal).joined(separator: ", "))]"
    }

    /// Returns a text as a Swift string literal.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || (0x2028...0x2029).contains(scalar.value):
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

/// Assigns names that differ from each other and from the reserved names.
struct NameTable {
    private var taken: Set<String>

    init(reserved: Set<String> = []) {
        taken = reserved
    }

    /// Returns the name if it is not taken, otherwise the name with the lowest number that makes it unique.
    mutating func unique(_ name: String) -> String {
        if taken.insert(name).inserted { return name }
        var number = 2
        while !taken.insert("\(name)\(number)").inserted { number += 1 }
        return "\(name)\(number)"
    }

    /// Returns the first name that is not taken.
    ///
    /// If all are taken, returns the last name with a number.
    mutating func unique(of names: [String]) -> String {
        for name in names where !taken.contains(name) { return unique(name) }
        return unique(names.last ?? "value")
    }
}
