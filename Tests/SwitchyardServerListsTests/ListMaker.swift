import Foundation
import SwitchyardClient
import SwitchyardServices
import Testing

@testable import SwitchyardServerLists

/// A signing key of the tests, which is the same in every run.
struct SigningKey: Sendable {
    let name: String
    let privateKey: Data

    init(_ name: String) {
        self.name = name
        privateKey = Data(name.utf8.prefix(32)) + Data(count: 32 - min(32, name.utf8.count))
    }

    /// The public key as an app has it.
    var trusted: ServerListKey {
        get throws {
            let bytes = try #require(try Ed25519.publicKey(of: privateKey))
            return try ServerListKey(name: name, publicKey: bytes.base64EncodedString())
        }
    }
}

/// The content of a list, which a test changes before it signs the list.
struct ListMaker: Sendable {
    static let issued = Date(timeIntervalSince1970: 1_764_000_000)
    static let day: TimeInterval = 86_400

    var service = "topics"
    var version: JSONValue = 7
    var issued: JSONValue = .string(Self.issued.iso8601)
    var expires: JSONValue = .string((Self.issued + 30 * Self.day).iso8601)
    var servers: JSONValue = [
        [
            "name": "primary",
            "baseURLs": ["test": "http://primary.lists.test", "release": "https://primary.lists.release"],
        ],
        ["name": "fresh", "baseURLs": ["test": "http://fresh.lists.test", "release": "https://fresh.lists.release"]],
    ]
    /// Further members of the payload.
    var others: [String: JSONValue] = [:]
    var keys = [SigningKey("k1")]

    init(_ change: (inout ListMaker) -> Void = { _ in }) { change(&self) }

    /// A list with one server for each URL, named `a`, `b` and so on, in the environment `test`.
    init(service: String, version: Int = 7, urls: [String], keys: [SigningKey] = [SigningKey("k1")]) {
        self.service = service
        self.version = .number(JSONNumber(version))
        self.keys = keys
        servers = .array(
            zip("abcdefgh", urls).map { name, url in
                ["name": .string(String(name)), "baseURLs": ["test": .string(url)]]
            }
        )
    }

    var payload: Data {
        var members: [(key: String, value: JSONValue)] = [
            ("service", .string(service)), ("version", version), ("issued", issued), ("expires", expires),
            ("servers", servers),
        ]
        members += others.map { ($0.key, $0.value) }
        return JSONValue.object(JSONMembers(members.filter { $0.value != .null })).data
    }

    /// The signed document.
    var document: Data {
        get throws {
            try #require(try ServerListEnvelope.signing(payload, with: keys.map { ($0.name, $0.privateKey) }))
        }
    }
}

/// The rules of the tests' service with the key `k1`.
func rules(
    keys: [SigningKey] = [SigningKey("k1")],
    hosts: [String] = ["*.lists.test", "*.lists.release", "127.0.0.1"],
    grace: Duration = .seconds(604_800),
    builtInVersion: Int = 0
) throws -> ServerListRules {
    let names = ["primary", "secondary"]
    let service = try Service(
        name: "topics",
        servers: names.map { name in
            try Server(
                name: name,
                baseURLs: [
                    .test: ServerURL("http://\(name).test/v1"), .release: ServerURL("https://\(name).release/v1"),
                ]
            )
        },
        defaultEnvironment: .test
    )
    return try ServerListRules(
        service: service,
        keys: keys.map { try $0.trusted },
        hosts: hosts,
        insecureHTTP: .local,
        grace: grace,
        builtInVersion: builtInVersion
    )
}
