import Foundation

extension HTTPHeaders {
    /// What a request says about its sender unless told otherwise: `Accept`, `Accept-Language`, `User-Agent`.
    ///
    /// `Accept` is `*/*`; where a reader of the answer takes certain types only, its types take the place of that.
    /// The languages are those of the user's settings, read once; where nobody has chosen any, none is asked for.
    /// `Accept-Encoding` is left to the transport, since only it knows what it can undo.
    public static var standard: HTTPHeaders { StandardHeaders.value }

    /// The value of `Accept-Language` for languages in order of preference.
    ///
    /// The first has the weight 1, each further one 0.1 less; six are named at most, none below 0.5.
    ///
    /// - Parameter languages: Language tags (BCP 47), the preferred one first.
    /// - Returns: For instance `en-GB, de;q=0.9`; empty without languages.
    public static func acceptLanguage(of languages: [String]) -> String {
        var value = ""
        var weight = 10
        for language in languages where weight > 4 {
            guard let tag = languageTag(language) else { continue }
            value += value.isEmpty ? tag : ", \(tag);q=0.\(weight)"
            weight -= 1
        }
        return value
    }

    /// The tag as headers write it, with `-` for the `_` of a locale's name; `nil` for what no token can hold.
    private static func languageTag(_ name: String) -> String? {
        guard !name.isEmpty, name.utf8.allSatisfy(HTTPToken.isTokenByte) else { return nil }
        return String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    }

    /// The value of `User-Agent` for a program: `Name/1.2 (com.example.app; build:7; Linux 6.1) Switchyard`.
    ///
    /// - Parameters:
    ///   - name: The program; other scripts are transliterated to ASCII, and what a token cannot hold becomes `-`.
    ///   - version: Its version; left out when empty.
    ///   - details: What stands in the brackets, such as identifier, build and system.
    /// - Returns: The value.
    public static func userAgent(name: String, version: String, details: [String]) -> String {
        let product = token(name)
        let versioned = version.isEmpty ? product : "\(product)/\(token(version))"
        var comment = ""
        for text in details.map(commentText) where !text.isEmpty { comment += comment.isEmpty ? text : "; \(text)" }
        return comment.isEmpty ? "\(versioned) Switchyard" : "\(versioned) (\(comment)) Switchyard"
    }

    private static func ascii(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 128 }) { return text }
        let latin = text.applyingTransform(.toLatin, reverse: false)?.folding(
            options: .diacriticInsensitive,
            locale: nil
        )
        return (latin ?? text).unicodeScalars.filter(\.isASCII).map(String.init).joined()
    }

    private static func token(_ text: String) -> String {
        let bytes = ascii(text).utf8.map { HTTPToken.isTokenByte($0) ? $0 : UInt8(ascii: "-") }
        return bytes.isEmpty ? "app" : String(decoding: bytes, as: UTF8.self)
    }

    private static func commentText(_ text: String) -> String {
        let isPlain = { (byte: UInt8) in byte >= 32 && byte < 127 && !"()\\;".utf8.contains(byte) }
        return String(decoding: ascii(text).utf8.filter(isPlain), as: UTF8.self)
    }
}

/// The standard headers of this process, made once.
private enum StandardHeaders {
    static let value: HTTPHeaders = {
        var headers: HTTPHeaders = [.accept("*/*")]
        let languages = HTTPHeaders.acceptLanguage(of: UserLanguages.preferred)
        if !languages.isEmpty { headers.add("Accept-Language", languages) }
        headers.add("User-Agent", userAgent)
        return headers
    }()

    #if canImport(Darwin)
        private static var userAgent: String {
            let bundle = Bundle.main
            let information = bundle.infoDictionary ?? [:]
            let name = information["CFBundleName"] as? String ?? ProcessInfo.processInfo.processName
            let version = information["CFBundleShortVersionString"] as? String ?? ""
            let build = (information["CFBundleVersion"] as? String).map { "build:\($0)" } ?? ""
            let details = [bundle.bundleIdentifier ?? "", build, system]
            return HTTPHeaders.userAgent(name: name, version: version, details: details)
        }
    #else
        // A program has no bundle here. To look for one, and for its name through `ProcessInfo`, would be an eighth of
        // the time to a process's first answer.
        private static var userAgent: String {
            let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
            return HTTPHeaders.userAgent(name: name ?? "", version: "", details: [system])
        }
    #endif

    private static var system: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(systemName) \(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }

    private static var systemName: String {
        #if os(macOS)
            "macOS"
        #elseif os(iOS)
            "iOS"
        #elseif os(tvOS)
            "tvOS"
        #elseif os(watchOS)
            "watchOS"
        #elseif os(visionOS)
            "visionOS"
        #else
            "Linux"
        #endif
    }
}
