import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardServerLists

/// Mistakes in the settings of a list.
@Suite struct ServerListSettingsTests {
    /// A mistake and its error.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: ServerListError
        var urls = ["https://lists.test/list.json"]
        var keys = [SigningKey("k1")]
        var hosts = ["*.lists.test"]
        var change: @Sendable (inout ServerList.Options) -> Void = { _ in }
    }

    static let mistakes = [
        Mistake(testDescription: "no URL", error: .invalidURLCount(0), urls: []),
        Mistake(
            testDescription: "nine URLs",
            error: .invalidURLCount(9),
            urls: Array(repeating: "https://a.test", count: 9)
        ),
        Mistake(testDescription: "http", error: .invalidURL("http://a.com/l"), urls: ["http://a.com/l"]),
        Mistake(testDescription: "a file", error: .invalidURL("file:///l"), urls: ["file:///l"]),
        Mistake(testDescription: "no key", error: .noKeys, keys: []),
        Mistake(
            testDescription: "a key twice",
            error: .duplicateKey("k1"),
            keys: [SigningKey("k1"), SigningKey("k1")]
        ),
        Mistake(testDescription: "no host", error: .noHosts, hosts: []),
        Mistake(
            testDescription: "a short interval",
            error: .invalidOption("interval", allowed: "a duration of at least 60 s")
        ) { $0.interval = .seconds(1) },
        Mistake(
            testDescription: "a negative grace",
            error: .invalidOption("grace", allowed: "a duration of at least 0")
        ) { $0.grace = .seconds(-1) },
        Mistake(
            testDescription: "no timeout",
            error: .invalidOption("timeout", allowed: "a duration above 0 s and of at most 300 s")
        ) { $0.timeout = .zero },
    ]

    @Test(arguments: mistakes)
    func `an invalid setting of a server list is an error that names the setting`(_ mistake: Mistake) throws {
        let client = try NetworkClient.stubbed { _ in .status(200) }.client
        var options = ServerList.Options()
        options.reachability = nil
        mistake.change(&options)

        #expect(throws: mistake.error) {
            try ServerList(
                for: client,
                from: mistake.urls.map { try #require(URL(string: $0)) },
                keys: mistake.keys.map { try $0.trusted },
                hosts: mistake.hosts,
                store: TemporaryFolder().url,
                options: options
            )
        }
        #expect(!mistake.error.description.isEmpty)
        #expect(client.clientObserverCount == 0)
    }

    @Test func `the error for an invalid URL of a server list says when http is allowed`() {
        #expect(
            ServerListError.invalidURL("http://a.com/l").description
                == "The URL http://a.com/l of the server list is invalid: must be an absolute https URL, or an http URL "
                + "with a host to which the client may send unencrypted requests."
        )
    }

    @Test(arguments: [
        (ServerListStatus(), "the built-in servers are in use"),
        (
            ServerListStatus(refusal: .unknownKey(["k2"])),
            "the built-in servers are in use; last refusal: the list is signed by unknown keys: k2"
        ),
        (
            ServerListStatus(version: 7, expires: Date(timeIntervalSince1970: 0)),
            "server list 7 is in use, expires 1970-01-01T00:00:00Z"
        ),
        (
            ServerListStatus(version: 7, expires: Date(timeIntervalSince1970: 0), isExpired: true, refusal: .tooLarge),
            "server list 7 is in use, expired 1970-01-01T00:00:00Z; last refusal: the list is too large: must have at "
                + "most 262144 bytes"
        ),
    ])
    func `the description of a server list's status is one line`(status: ServerListStatus, text: String) {
        #expect("\(status)" == text)
    }

    @Test(arguments: ["", "*", "*.", "*.com", "a..com", ".com", "*.*.com", "a*.com", "https://a.com", "a.com/x", "a:1"])
    func `a host pattern that is neither a host nor a star before a domain with two labels is rejected`(text: String) {
        #expect(throws: ServerListError.invalidHost(text)) { try HostPattern(text) }
    }

    @Test(
        arguments: [
            ("*.example.com", "api.example.com", true), ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false), ("*.example.com", "evilexample.com", false),
            ("api.Example.com", "api.example.com", true), ("api.example.com", "x.api.example.com", false),
            ("*.bücher.de", "api.xn--bcher-kva.de", true), ("10.0.0.1", "10.0.0.1", true), ("::1", "::1", true),
            ("home.local", "home.local", true),
        ]
    )
    func `a host pattern matches its host or the hosts below its domain`(
        pattern: String,
        host: String,
        matches: Bool
    ) throws {
        #expect(try HostPattern(pattern).matches(host) == matches)
    }

    @Test(arguments: [("", "AAAA"), ("k", "not base64"), ("k", "AAAA"), ("k", "")])
    func `a public key of a server list must have a name and 32 bytes`(name: String, text: String) {
        #expect(throws: ServerListError.self) { try ServerListKey(name: name, publicKey: text) }
    }
}
