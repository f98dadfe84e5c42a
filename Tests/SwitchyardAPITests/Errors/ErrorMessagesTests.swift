import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ErrorMessagesTests {
    @Test func `every common code has its own message in both languages`() {
        for language in [MessageLanguage.english, .simplifiedChinese] {
            let messages = ErrorMessages(languages: [language])
            let texts = [APIError.Reason]([
                .limited(.deadline), .transport(.init(.offline, message: "")), .cancelled(.caller), .status(500),
                .list(.noData), .list(.noMoreData),
            ]).map { APIError($0, messages: messages).message }
            #expect(Set(texts).count == 6)
            #expect(!texts.contains { $0.isBlank })
        }
    }

    @Test func `a cancellation has no message for the user`() {
        let error = APIError(.cancelled(.caller))

        #expect(error.isCancellation)
        #expect(error.userMessage == nil)
        #expect(!error.message.isEmpty)
    }

    @Test func `the message of the server takes precedence unless it is blank or disabled`() {
        let own = ErrorMessages(languages: [.english])
        let plain = ErrorMessages(languages: [.english], prefersServerMessage: false)

        #expect(APIError(.status(500), serverMessage: "Full.", messages: own).message == "Full.")
        #expect(APIError(.status(500), serverMessage: " ", messages: own).message == "The request failed.")
        #expect(APIError(.status(500), serverMessage: "Full.", messages: plain).message == "The request failed.")
    }

    @Test func `a module replaces messages and adds a language`() {
        var messages = ErrorMessages(languages: [.init(rawValue: "de"), .english])
        messages.set("Leer.", for: .noData, in: .init(rawValue: "de"))
        messages.set("No topics.", for: .noData, in: .english)

        #expect(APIError(.list(.noData), messages: messages).message == "Leer.")
        messages.set("", for: .noData, in: .init(rawValue: "de"))
        #expect(APIError(.list(.noData), messages: messages).message == "No topics.")
    }

    @Test func `the remark that a write may have been executed is in the language of the message`() {
        var messages = ErrorMessages(languages: [.english])
        var error = APIError(.limited(.deadline))
        error.context.mayHaveBeenExecuted = true

        #expect(
            messages.text(for: error)
                == "The server took too long to respond. The server may have executed it nevertheless."
        )
        messages.languages = [.simplifiedChinese]
        #expect(messages.text(for: error) == "请求超时，请稍后再试。操作可能已经生效")
        messages.languages = [.init(rawValue: "de")]
        messages.set("Zu spät.", for: .timeout, in: .init(rawValue: "de"))
        #expect(messages.text(for: error) == "Zu spät.")
        messages.setRemark("Vielleicht ist es geschehen.", in: .init(rawValue: "de"))
        #expect(messages.text(for: error) == "Zu spät. Vielleicht ist es geschehen.")
        error.serverMessage = "Full."
        #expect(messages.text(for: error) == "Full.")
    }

    @Test(arguments: TransportError.Kind.allCases)
    func `only an error of an offline machine has the message about a missing network`(kind: TransportError.Kind) {
        let messages = ErrorMessages(languages: [.english])
        let error = APIError(TransportError(kind, message: ""))
        let text = messages.text(for: error)

        #expect((text == "No connection to the network.") == (kind == .offline))
        #expect((text == "The server cannot be reached.") == (kind == .connectionRefused || kind == .dnsFailure))
    }

    @Test(arguments: [
        (URLError.Code.cannotConnectToHost, "The server cannot be reached."),
        (.cannotFindHost, "The server cannot be reached."), (.notConnectedToInternet, "No connection to the network."),
    ])
    func `the messages for URLError distinguish a missing network from an unreachable server`(
        code: URLError.Code,
        words: String
    ) {
        #expect(ErrorMessages(languages: [.english]).text(for: APIError(URLError(code))) == words)
    }

    @Test func `a transient or internal credential failure does not require a login`() {
        let veto = InterceptorError(name: "provider", underlying: CancellationError())
        let others: [CredentialError] = [
            .tooManyRefreshes(limit: 5), .refreshTimedOut, .refreshFailed(veto), .unsupportedScheme(["NTLM"]),
        ]

        for error in others { #expect(APIError.Reason(.credentials(error)) != .security(.loginRequired)) }
        for error in [CredentialError.missing, .loginRequired, .loggedOut] {
            #expect(APIError.Reason(.credentials(error)) == .security(.loginRequired))
        }
    }

    @Test func `a custom message for a code also applies to a more specific code that has no message of its own`() {
        let german = MessageLanguage(rawValue: "de")
        var messages = ErrorMessages(languages: [german, .english])
        let refused = APIError(TransportError(.connectionRefused, message: ""))

        messages.set("Keine Verbindung.", for: .notConnected, in: german)
        #expect(messages.text(for: refused) == "Keine Verbindung.")
        messages.languages = [.english]
        #expect(messages.text(for: refused) == "The server cannot be reached.")
        messages.set("Out of reach.", for: .notConnected, in: .english)
        #expect(messages.text(for: refused) == "Out of reach.")
        messages.set("Server down.", for: .serverUnreachable, in: .english)
        messages.set("No way.", for: .notConnected, in: .english)
        #expect(messages.text(for: refused) == "Server down.")
        messages.set("", for: .serverUnreachable, in: .english)
        #expect(messages.text(for: refused) == "No way.")
    }

    @Test func `an error code that a module defines has its own message in the selected language`() {
        var messages = ErrorMessages(languages: [.simplifiedChinese])
        messages.include(UserError.self)
        let failure = ModuleFailure(module: "UserError", code: 1001)

        #expect(APIError(.module(failure), messages: messages).message == "用户不存在")
        #expect(!APIError(.module(.init(module: "x", code: 4711))).message.isEmpty)
    }

    @Test(arguments: [
        (["zh-Hans-CN", "en"], "zh-Hans"), (["zh_CN.UTF-8"], "zh-Hans"), (["zh"], "zh-Hans"), (["zh-Hant-TW"], nil),
        (["fr-FR", "en-GB"], "en"), (["zh-TW", "en"], "en"), (["C"], nil), ([""], nil), ([], nil),
        (["zh-Hans-HK"], "zh-Hans"), (["zh-HK"], nil), (["zh-SG"], "zh-Hans"),
    ])
    func `the first available language of the user is selected`(tags: [String], expected: String?) {
        let builtIn: Set<MessageLanguage> = [.english, .simplifiedChinese]
        #expect(tags.lazy.compactMap { MessageLanguage.matching($0, among: builtIn) }.first?.rawValue == expected)
    }

    @Test(arguments: [
        ("de-CH", "de"), ("de_AT.UTF-8", "de"), ("sr-Latn-RS", "sr-Latn"), ("sr-RS", "sr"), ("zh-TW", "zh-Hant"),
        ("zh-HK", "zh-HK"), ("zh-Hant-HK", "zh-Hant"), ("zh-SG", "请求失败，请稍后再试"), ("it", nil),
    ])
    func `custom message languages are matched with the user's language settings`(tag: String, expected: String?) {
        let all = ["de", "sr", "sr-Latn", "zh", "zh-Hant", "zh-HK"].map(MessageLanguage.init(rawValue:))
        var messages = ErrorMessages(languages: [MessageLanguage(rawValue: tag)])
        for language in all { messages.set(language.rawValue, for: .failed, in: language) }

        #expect(messages.text(for: APIError(.status(500))) == expected ?? "The request failed.")
    }

    @Test(arguments: [
        ("zh-Hant-TW", "zh-TW"), ("zh-Hant-HK", "zh-HK"), ("zh-MO", "zh-HK"), ("zh-Hant", "zh-TW"),
        ("zh-Hans-CN", "zh-CN"), ("zh", "zh-CN"), ("zh-SG", "zh-CN"),
    ])
    func `a Chinese message with a region is found by the script of the user's language`(tag: String, expected: String)
    {
        let regional = Set(["en", "zh-TW", "zh-CN", "zh-HK"].map(MessageLanguage.init(rawValue:)))
        #expect(MessageLanguage.matching(tag, among: regional)?.rawValue == expected)
    }

    @Test(arguments: [
        ("zh-TW", "zh-Hant-TW"), ("zh-Hant-HK", "zh-Hant-TW"), ("zh-Hant", "zh-Hant-TW"), ("zh_CN.UTF-8", "zh-Hans-CN"),
        ("zh-Hans", "zh-Hans-CN"), ("zh", "zh-Hans-CN"),
    ])
    func `a Chinese message with script and region is found by its script or by its region`(
        tag: String,
        expected: String
    ) {
        let whole = Set(["en", "zh-Hant-TW", "zh-Hans-CN"].map(MessageLanguage.init(rawValue:)))
        #expect(MessageLanguage.matching(tag, among: whole)?.rawValue == expected)
    }

    @Test(arguments: [("zh-Hant-TW", ["zh", "zh-CN", "zh-Hans"]), ("zh-Hans-CN", ["zh-Hant", "zh-TW", "zh-HK"])])
    func `Chinese messages in the other script are not matched`(tag: String, others: [String]) {
        let available = Set(others.map(MessageLanguage.init(rawValue:)))
        #expect(MessageLanguage.matching(tag, among: available) == nil)
    }
}
