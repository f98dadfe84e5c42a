import Foundation

/// A language of the messages, by its BCP 47 tag.
public struct MessageLanguage: RawRepresentable, Sendable, Hashable {
    /// The tag: `en`, `zh-Hans`.
    public let rawValue: String

    /// Creates a language from its tag.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// English.
    public static let english = MessageLanguage(rawValue: "en")
    /// Simplified Chinese.
    public static let simplifiedChinese = MessageLanguage(rawValue: "zh-Hans")

    /// The language that a tag of the user's settings asks for, among `available`; `nil` when none fits.
    ///
    /// Chinese without a script is simplified, except for the regions that write traditional characters.
    static func matching(_ tag: String, among available: Set<MessageLanguage>) -> MessageLanguage? {
        let parts = tag.replacing("_", with: "-").prefix { $0 != "." && $0 != "@" }.lowercased().split(separator: "-")
        guard let first = parts.first else { return nil }
        let isTraditional = parts.contains { ["hant", "tw", "hk", "mo"].contains($0) } && !parts.contains("hans")
        if first == "zh" { return isTraditional ? nil : available.first { $0 == .simplifiedChinese } }
        let exact = available.first { $0.rawValue.lowercased() == parts.joined(separator: "-") }
        return exact ?? available.first { $0.rawValue.lowercased() == first }
    }

    /// The tags of the user's settings, most wanted first.
    ///
    /// On Apple systems these are the system's. Elsewhere Foundation does not read the environment, so the variables of
    /// POSIX are read in the order that gettext uses.
    static var systemPreferences: [String] {
        #if canImport(Darwin)
            return Locale.preferredLanguages
        #else
            let environment = ProcessInfo.processInfo.environment
            let list = environment["LANGUAGE"].map { $0.split(separator: ":").map(String.init) } ?? []
            let single = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
            return list + (single.map { [$0] } ?? [])
        #endif
    }
}
