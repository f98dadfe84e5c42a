import Foundation

/// The preferred languages in the user's system settings.
package enum UserLanguages {
    /// The language tags (BCP 47), the preferred language first; empty if no language is set.
    ///
    /// On Apple systems these are the system's preferred languages. On other systems Foundation always returns
    /// `en-001`, so the POSIX environment variables are read on each access.
    package static var preferred: [String] {
        #if canImport(Darwin)
            Locale.preferredLanguages
        #else
            named { name in getenv(name).map { String(cString: $0) } }
        #endif
    }

    /// Returns the languages in environment variables, in the order of gettext: the languages in `LANGUAGE`, then the
    /// language of the locale.
    ///
    /// The result is empty for the locale `C`, which is also the default if no variable is set.
    static func named(by variable: (String) -> String?) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first { !$0.isEmpty }
        guard let own = locale.flatMap(tag) else { return [] }
        let others = variable("LANGUAGE")?.split(separator: ":").compactMap { tag(of: String($0)) } ?? []
        return (others + [own]).reduce(into: []) { tags, tag in
            if !tags.contains(tag) { tags.append(tag) }
        }
    }

    /// Returns the language tag of a locale `language[_territory][.codeset][@modifier]`, or `nil` if the locale has no
    /// language.
    private static func tag(of locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard !["", "C", "POSIX"].contains(name) else { return nil }
        var parts = name.split { $0 == "_" || $0 == "-" }.map(String.init)
        guard !parts.isEmpty else { return nil }
        let modifier = locale.split(separator: "@", maxSplits: 1).dropFirst().first
        if let script = modifier.flatMap({ scripts[$0.lowercased()] }) { parts.insert(script, at: 1) }
        return parts.joined(separator: "-")
    }

    /// Script subtags by locale modifier: `sr_RS@latin` is Serbian in the script `Latn`.
    private static let scripts = ["cyrillic": "Cyrl", "devanagari": "Deva", "latin": "Latn"]
}
