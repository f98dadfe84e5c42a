/// A language of the messages, identified by its BCP 47 tag.
public struct MessageLanguage: RawRepresentable, Sendable, Hashable {
    /// The BCP 47 tag, such as `en` or `zh-Hans`.
    public let rawValue: String

    /// Creates a language from its tag.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// English.
    public static let english = MessageLanguage(rawValue: "en")
    /// Simplified Chinese.
    public static let simplifiedChinese = MessageLanguage(rawValue: "zh-Hans")

    /// Returns the language among `available` that matches a tag of the user's settings, or `nil` if none matches.
    ///
    /// The lookup follows RFC 4647 section 3.4: first the whole tag, then the tag without its last part, and so on.
    /// Chinese without a script is simplified, except for the regions that write traditional characters. A tag with a
    /// script (`zh-Hant`) also matches a language with a region that writes this script (`zh-TW`), or with both
    /// (`zh-Hant-TW`). It never matches the other script.
    static func matching(_ tag: String, among available: Set<MessageLanguage>) -> MessageLanguage? {
        let text = tag.replacing("_", with: "-").prefix { $0 != "." && $0 != "@" }.lowercased()
        var parts = text.split(separator: "-").map(String.init)
        while !parts.isEmpty {
            let wanted = parts.joined(separator: "-")
            if let language = available.first(where: { $0.rawValue.lowercased() == wanted }) { return language }
            parts.removeLast()
            if parts == ["zh"] { return chinese(for: text, among: available) }
        }
        return text == "zh" ? chinese(for: text, among: available) : nil
    }

    /// Returns the Chinese language with the same script as the tag.
    ///
    /// First the language with the script's name is searched, then a language with the tag's region, then a language
    /// with another region that writes the script.
    private static func chinese(for tag: String, among available: Set<MessageLanguage>) -> MessageLanguage? {
        let parts = tag.split(separator: "-").map(String.init)
        let isTraditional = parts.contains { ["hant", "tw", "hk", "mo"].contains($0) } && !parts.contains("hans")
        // Macao falls back to Hong Kong (CLDR's parent locales).
        let others = parts.contains("mo") ? ["mo", "hk", "tw"] : ["tw", "hk", "mo"]
        let regions = isTraditional ? others : ["cn", "sg"]
        let ordered = regions.filter(parts.contains) + regions
        let script = isTraditional ? "zh-hant" : "zh-hans"
        let named = ordered.flatMap { ["zh-\($0)", "\(script)-\($0)"] }
        let wanted = (isTraditional ? [script] : [script, "zh"]) + named
        return wanted.lazy.compactMap { tag in available.first { $0.rawValue.lowercased() == tag } }.first
    }
}
