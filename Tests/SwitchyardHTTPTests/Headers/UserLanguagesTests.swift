import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

/// The languages of the system's settings on non-Apple systems.
@Suite struct UserLanguagesTests {
    @Test(arguments: [
        (["LANG": "zh_CN.UTF-8"], ["zh-CN"]),
        (["LANG": "de"], ["de"]),
        (["LANG": "de_DE@euro"], ["de-DE"]),
        (["LANG": "sr_RS.UTF-8@latin"], ["sr-Latn-RS"]),
        (["LANG": "pt_BR.UTF-8", "LANGUAGE": "fr_CA:en"], ["fr-CA", "en", "pt-BR"]),
        (["LANG": "fr_FR", "LANGUAGE": "en:fr_FR"], ["en", "fr-FR"]),
    ])
    func `the locale in the environment variables determines the user's language`(
        variables: [String: String],
        expected: [String]
    ) {
        #expect(UserLanguages.named { variables[$0] } == expected)
    }

    @Test(arguments: [
        (["LC_ALL": "ja_JP", "LC_MESSAGES": "de_DE", "LANG": "fr_FR"], ["ja-JP"]),
        (["LC_MESSAGES": "de_DE", "LANG": "fr_FR"], ["de-DE"]),
        (["LC_ALL": "", "LANG": "fr_FR"], ["fr-FR"]),
    ])
    func `LC_ALL and LC_MESSAGES take precedence over LANG`(variables: [String: String], expected: [String]) {
        #expect(UserLanguages.named { variables[$0] } == expected)
    }

    @Test(arguments: [
        [:], ["LANG": "C"], ["LANG": "C.UTF-8"], ["LANG": "POSIX"], ["LANG": ""], ["LANG": "-@latin"],
        ["LC_ALL": "C", "LANG": "de_DE"], ["LANGUAGE": "de"], ["LANG": "C.UTF-8", "LANGUAGE": "de"],
    ])
    func `environment variables without a chosen language give no user languages`(variables: [String: String]) {
        #expect(UserLanguages.named { variables[$0] } == [])
    }

    @Test func `Accept-Language lists the user's preferred languages`() {
        let asked = HTTPHeaders.standard["Accept-Language"] ?? ""

        #expect(asked == HTTPHeaders.acceptLanguage(of: UserLanguages.preferred))
    }
}
