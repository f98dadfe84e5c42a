import Foundation

/// The languages that the user has chosen in the system's settings.
package enum UserLanguages {
    /// Their tags (BCP 47), the most wanted first; none where nobody has chosen any.
    ///
    /// On Apple systems these are the system's. Elsewhere Foundation says `en-001` whatever the settings, so the variables
    /// of POSIX are read, at the time of the call.
    package static var preferred: [String] {
        #if canImport(Darwin)
            Locale.preferredLanguages
        #else
            named { name in getenv(name).map { String(cString: $0) } }
        #endif
    }

    /// The languages that the variables of an environment name, as gettext reads them: those of `LANGUAGE`, then that of
    /// the locale; none in the locale `C`, which is also that of an environment that says nothing.
    static func named(by variable: (String) -> String?) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first { !$0.isEmpty }
        guard let own = locale.flatMap(tag) else { return [] }
        let others = variable("LANGUAGE")?.split(separator: ":").compactMap { tag(of: String($0)) } ?? []
        return (others + [own]).reduce(into: []) { tags, tag in
            if !tags.contains(tag) { tags.append(tag) }
        }
    }

    /// The tag of a locale, `language[_territory][.codeset][@modifier]`; `nil` for the locale without a language.
    private static func tag(of locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard !["", "C", "POSIX"].contains(name) else { return nil }
        var parts = name.split { $0 == "_" || $0 == "-" }.map(String.init)
        guard !parts.isEmpty else { return nil }
        let modifier = locale.split(separator: "@", maxSplits: 1).dropFirst().first
        if let script = modifier.flatMap({ scripts[$0.lowercased()] }) { parts.insert(script, at: 1) }
        return parts.joined(separator: "-")
    }

    /// The scripts that locales name by a modifier.
    private static let scripts = ["cyrillic": "Cyrl", "devanagari": "Deva", "latin": "Latn"]
}
