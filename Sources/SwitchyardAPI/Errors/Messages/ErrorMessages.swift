import SwitchyardClient
import SwitchyardHTTP

/// The messages for the user, by code and language.
///
/// ### Replace or add
///     var messages = ErrorMessages.standard
///     messages.set("The topics are being moved.", for: .failed, in: .english)
///     messages.set("Please sign in.", for: .loginRequired, in: .english)
///     messages.setRemark("Check whether it was saved before you try again.", in: .english)
///     messages.include(UserError.self)
///
/// The message of an error is the first of these messages that exists:
/// 1. The server's own message, if ``prefersServerMessage`` is `true`. If ``ErrorBody/prefersModuleTexts`` is `true`,
///    the module's text comes first.
/// 2. The text of the code in the preferred languages.
/// 3. The text of the code in English.
/// 4. The text of the code in any other language.
/// 5. The text of ``APIError/Code/failed``.
///
/// In each language, the text of a ``Detail`` comes before the text of the code. The result is never empty. If the call
/// may have been executed, a remark in the same language follows a text of the app or of the library.
public struct ErrorMessages: Sendable {
    /// The preferred languages, with the most preferred language first.
    ///
    /// If there is no text in exactly a preferred language, a text in a more general form of it is used (RFC 4647
    /// section 3.4), such as `de` for `de-CH`.
    public var languages: [MessageLanguage]
    /// Whether the server's message is shown instead of the library's or module's own text, `true` by default.
    public var prefersServerMessage: Bool
    private var texts: [APIError.Code: [MessageLanguage: String]]
    private var detailed: [Detail: [MessageLanguage: String]]
    private var remarks: [MessageLanguage: String]

    /// The built-in messages in English and Simplified Chinese.
    ///
    /// The language is chosen by the user's system settings.
    public static let standard = ErrorMessages()

    /// Creates error messages that contain the built-in messages.
    ///
    /// - Parameters:
    ///   - languages: The preferred languages. By default, they are those of the system's settings at the time of the
    ///     call.
    ///   - prefersServerMessage: Whether the server's message is shown instead of the library's own text.
    public init(languages: [MessageLanguage]? = nil, prefersServerMessage: Bool = true) {
        self.prefersServerMessage = prefersServerMessage
        texts = Self.builtIn
        detailed = Self.builtInDetails
        remarks = Self.builtInRemarks
        self.languages = languages ?? UserLanguages.preferred.map(MessageLanguage.init(rawValue:))
    }

    /// Sets the text of a code in a language.
    ///
    /// An empty text removes the text.
    ///
    /// The text also replaces the built-in messages for the details of the code.
    public mutating func set(_ text: String, for code: APIError.Code, in language: MessageLanguage) {
        texts[code, default: [:]][language] = text.isBlank ? nil : text
        for detail in Detail.allCases where detail.code == code {
            let isBuiltIn = detailed[detail]?[language] == Self.builtInDetails[detail]?[language]
            if isBuiltIn { detailed[detail]?[language] = nil }
        }
    }

    /// Sets the text of a detail in a language.
    ///
    /// If the text is empty, the text of the code is shown instead.
    public mutating func set(_ text: String, for detail: Detail, in language: MessageLanguage) {
        detailed[detail, default: [:]][language] = text.isBlank ? nil : text
    }

    /// Sets the remark that follows the text if the call may have been executed (``APIError/mayHaveBeenExecuted``).
    ///
    /// An empty remark removes the remark of the language.
    public mutating func setRemark(_ remark: String, in language: MessageLanguage) {
        remarks[language] = remark.isBlank ? nil : remark
    }

    /// Adds the messages of a module's codes.
    package mutating func include<Module: ModuleErrorCode>(_ type: Module.Type) {
        for code in Module.allCases {
            for (language, text) in code.texts { set(text, for: .module(code.rawValue), in: language) }
        }
    }

    /// Returns these messages, with a module's messages added for the codes that have no message here.
    func filled(from errors: ModuleErrors) -> ErrorMessages {
        var filled = self
        for code in errors.codes.map(APIError.Code.module) {
            filled.texts[code] = (errors.messages.texts[code] ?? [:]).merging(texts[code] ?? [:]) { _, own in own }
        }
        return filled
    }

    /// Returns the message for an error.
    public func text(for error: APIError) -> String {
        let code = error.code
        let hasModuleText = error.prefersOwnText && texts[code]?.isEmpty == false
        if prefersServerMessage, !hasModuleText, let own = error.serverMessage, !own.isBlank { return own }
        guard let (text, language) = text(for: code, Detail(error.reason)) ?? text(for: .failed, nil) else {
            return "Error \(code.number)"
        }
        let remark =
            error.mayHaveBeenExecuted ? MessageLanguage.matching(language.rawValue, among: Set(remarks.keys)) : nil
        return remark.flatMap { remarks[$0] }.map { text.followed(by: $0) } ?? text
    }

    private func text(for code: APIError.Code, _ detail: Detail?) -> (text: String, language: MessageLanguage)? {
        let details = detail.flatMap { detailed[$0] } ?? [:]
        let byLanguage = (texts[code] ?? [:]).merging(details) { _, detailed in detailed }
        let known = Set(byLanguage.keys)
        let wanted = languages.lazy.compactMap { MessageLanguage.matching($0.rawValue, among: known) }.first
        let language = wanted ?? (known.contains(.english) ? .english : known.min { $0.rawValue < $1.rawValue })
        return language.flatMap { language in byLanguage[language].map { ($0, language) } }
    }

    private static let builtIn: [APIError.Code: [MessageLanguage: String]] = [
        .timeout: [.english: "The server took too long to respond.", .simplifiedChinese: "请求超时，请稍后再试"],
        .notConnected: [.english: "No connection to the network.", .simplifiedChinese: "网络连接不可用，请检查网络"],
        .cancelled: [.english: "Cancelled.", .simplifiedChinese: "已取消"],
        .failed: [.english: "The request failed.", .simplifiedChinese: "请求失败，请稍后再试"],
        .noData: [.english: "There is nothing here yet.", .simplifiedChinese: "这里还没有内容"],
        .noMoreData: [.english: "That is all.", .simplifiedChinese: "没有更多了"],
    ]

    private static let builtInDetails: [Detail: [MessageLanguage: String]] = [
        .serverUnreachable: [.english: "The server cannot be reached.", .simplifiedChinese: "无法连接到服务器，请稍后再试"],
        .loginRequired: [.english: "Please log in.", .simplifiedChinese: "请先登录"],
    ]

    private static let builtInRemarks: [MessageLanguage: String] = [
        .english: "The server may have executed it nevertheless.", .simplifiedChinese: "操作可能已经生效",
    ]
}

extension String {
    /// Returns the text followed by another sentence.
    ///
    /// Whether a space separates the text from the sentence depends on the script.
    fileprivate func followed(by sentence: String) -> String {
        let isIdeographic = unicodeScalars.last?.properties.isIdeographic ?? false
        guard !isIdeographic else { return "\(self)。\(sentence)" }
        return unicodeScalars.last?.value ?? 0 >= 0x3000 ? self + sentence : "\(self) \(sentence)"
    }

    /// Whether the text is empty or consists of whitespace only.
    var isBlank: Bool { allSatisfy(\.isWhitespace) }
}

extension ErrorMessages {
    /// A cause that has a more specific text than its code.
    public enum Detail: Sendable, Hashable, CaseIterable {
        /// The cause of ``APIError/Code/notConnected`` if no fault of the user's network is known: a server refuses the
        /// connection, cannot be reached, or has a name that is not found.
        case serverUnreachable
        /// The cause of ``APIError/Code/failed`` if the reason is ``APIError/SecurityReason/loginRequired``.
        case loginRequired

        /// The code that the detail belongs to.
        public var code: APIError.Code {
            switch self {
            case .serverUnreachable: .notConnected
            case .loginRequired: .failed
            }
        }

        init?(_ reason: APIError.Reason) {
            switch reason {
            case .transport(let error) where error.kind == .connectionRefused || error.kind == .dnsFailure:
                self = .serverUnreachable
            case .tokenRefresh(let outage) where outage.transportError?.kind != .offline: self = .serverUnreachable
            case .security(.loginRequired): self = .loginRequired
            default: return nil
            }
        }
    }
}
