import Foundation

extension HTTPHeaders {
    /// The default header fields about the sender of a request: `Accept`, `Accept-Language` and `User-Agent`.
    ///
    /// `Accept` is `*/*`. A response serializer that accepts only certain types replaces it. `Accept-Language` contains
    /// the languages of the user's settings. The settings are read once. If no languages are set, the field is omitted.
    /// `Accept-Encoding` is set by the transport, which knows the encodings that it can decode.
    public static var standard: HTTPHeaders { StandardHeaders.value }

    /// Returns the value of `Accept-Language` for languages in order of preference.
    ///
    /// The first language has the weight 1 and each further language 0.1 less. At most six languages are listed, so
    /// that no weight is below 0.5.
    ///
    /// - Parameter languages: Language tags (BCP 47), the preferred language first.
    /// - Returns: For instance `en-GB, de;q=0.9`, or an empty string if there are no languages.
    package static func acceptLanguage(of languages: [String]) -> String {
        var value = ""
        var weight = 10
        for language in languages where weight > 4 {
            guard let tag = languageTag(language) else { continue }
            value += value.isEmpty ? tag : ", \(tag);q=0.\(weight)"
            weight -= 1
        }
        return value
    }

    /// Returns a language tag: the locale identifier with `-` in place of `_`, or `nil` if the tag has an invalid
    /// character.
    private static func languageTag(_ name: String) -> String? {
        guard !name.isEmpty, name.utf8.allSatisfy(HTTPToken.isTokenByte) else { return nil }
        return String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    }

    /// Returns the value of `User-Agent` for a program: `Name/1.2 (com.example.app; build:7; Linux 6.1) Switchyard`.
    ///
    /// - Parameters:
    ///   - name: The name of the program. Other scripts are transliterated to ASCII, and characters that are not
    ///     allowed in a token become `-`.
    ///   - version: The version. If empty, it is omitted.
    ///   - details: The contents of the parentheses, such as identifier, build and system.
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

/// The default header fields of this process, computed once.
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
        // A program has no bundle on Linux. Looking for a bundle, and reading the name from `ProcessInfo`, would take
        // an eighth of the time that a process needs for its first response.
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
