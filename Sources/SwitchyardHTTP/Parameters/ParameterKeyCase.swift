/// How the names of parameters are changed when they are written.
public enum ParameterKeyCase: Sendable {
    /// Not at all.
    case unchanged
    /// `oneTwoThree` becomes `one_two_three`.
    case snakeCase
    /// `oneTwoThree` becomes `one-two-three`.
    case kebabCase
    /// `oneTwoThree` becomes `OneTwoThree`.
    case capitalized
    /// `oneTwoThree` becomes `ONETWOTHREE`.
    case uppercased
    /// `oneTwoThree` becomes `onetwothree`.
    case lowercased
    /// What the closure makes of it.
    case custom(@Sendable (String) -> String)

    func apply(to key: String) -> String {
        switch self {
        case .unchanged: key
        case .snakeCase: Self.separated(key, by: "_")
        case .kebabCase: Self.separated(key, by: "-")
        case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
        case .uppercased: key.uppercased()
        case .lowercased: key.lowercased()
        case .custom(let convert): convert(key)
        }
    }

    /// Lower-cases the words of a camel-case name and puts `separator` between them.
    ///
    /// A run of capitals is one word whose last letter starts the next one: `myURLProperty` is `my_url_property`. A digit
    /// belongs to the word before it and ends no run: `isB2B` is `is_b2b`, as Foundation's JSON encoder has it.
    private static func separated(_ key: String, by separator: Character) -> String {
        let characters = Array(key)
        var result = ""
        var isInCapitals = false
        for (index, character) in characters.enumerated() {
            if index > 0, character.isUppercase, characters[index - 1] != separator {
                let startsWord = index + 1 < characters.count && characters[index + 1].isLowercase
                if !isInCapitals || startsWord { result.append(separator) }
            }
            if character.isUppercase || character.isLowercase { isInCapitals = character.isUppercase }
            result += character.lowercased()
        }
        return result
    }
}
