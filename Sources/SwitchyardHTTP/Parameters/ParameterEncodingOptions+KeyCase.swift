extension ParameterEncodingOptions {
    /// A change to the case of parameter names.
    public enum KeyCase: Sendable {
        /// No change.
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
        /// A custom change.
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

        /// Returns the words of a camel-case name in lower case with `separator` between them.
        ///
        /// Consecutive capitals are one word, but the last of them starts the next word: `myURLProperty` becomes
        /// `my_url_property`. A digit belongs to the word before it and does not end a run: `isB2B` becomes `is_b2b`,
        /// as in Foundation's JSON encoder.
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
}
