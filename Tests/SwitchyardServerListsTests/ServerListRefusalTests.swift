import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardServerLists

/// Forgeries, replays and mistakes, each refused for its own reason.
@Suite struct ServerListRefusalTests {
    /// A document and the name of the reason for which it is refused.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: String
        /// The time over TLS, or `nil` if it is unknown.
        var date: Date?
        let document: @Sendable () throws -> Data

        init(
            _ name: String,
            _ reason: String,
            at date: Date? = nil,
            document: @escaping @Sendable () throws -> Data
        ) {
            testDescription = name
            self.reason = reason
            self.date = date
            self.document = document
        }

        /// A case whose list is signed but has a mistake.
        init(
            _ name: String,
            _ reason: String,
            at date: Date? = nil,
            _ change: @escaping @Sendable (inout ListMaker) -> Void
        ) {
            self.init(name, reason, at: date, document: { try ListMaker(change).document })
        }
    }

    private static func servers(_ urls: [String: JSONValue], weight: JSONValue = 1) -> JSONValue {
        let members = JSONMembers(urls.map { (key: $0.key, value: $0.value) })
        return [["name": "primary", "weight": weight, "baseURLs": .object(members)]]
    }

    /// Lists that someone without a key has made or changed.
    static let forgeries = [
        Case(
            "another payload under the old signature",
            "badSignature",
            document: {
                let list = try ServerListEnvelope(ListMaker().document)
                let forged = ListMaker { $0.version = 8 }.payload
                return Self.envelope(forged, list.signatures)
            }
        ),
        Case(
            "the signature of another key under a trusted name",
            "badSignature",
            document: {
                let thief = [(name: "k1", privateKey: SigningKey("thief").privateKey)]
                return try #require(try ServerListEnvelope.signing(ListMaker().payload, with: thief))
            }
        ),
        Case("a key that the app does not know", "unknownKey") { $0.keys = [SigningKey("thief")] },
        Case("no signature", "unknownKey") { $0.keys = [] },
        Case(
            "an empty signature",
            "malformed",
            document: {
                Data(#"{"payload":"e30=","signatures":[{"key":"k1","signature":""}]}"#.utf8)
            }
        ),
        Case("the list without an envelope", "malformed", document: { ListMaker().payload }),
    ]

    /// Lists that were valid at another time or for another purpose.
    static let replays = [
        Case("a lower version than the newest accepted", "outdated") { $0.version = 4 },
        Case("the version of the newest accepted with other content", "reusedVersion") { $0.version = 5 },
        Case("another service", "foreignService") { $0.service = "payments" },
        Case("expired by more than the grace", "expired", at: ListMaker.issued + 38 * ListMaker.day) { _ in },
        Case("expired by the issue of the newest accepted", "expired") {
            $0.issued = "2025-01-01T00:00:00Z"
            $0.expires = "2025-01-31T00:00:00Z"
        },
        Case("issued in the future", "issuedInFuture", at: ListMaker.issued - 2 * ListMaker.day) { _ in },
    ]

    /// Mistakes of the operator.
    static let mistakes = [
        Case("not JSON", "malformed", document: { Data("<html>Welcome to the hotel</html>".utf8) }),
        Case("an empty document", "malformed", document: { Data() }),
        Case("more than 256 KiB", "tooLarge", document: { Data(repeating: 0x20, count: ServerList.maximumSize + 1) }),
        Case("deeply nested JSON", "malformed", document: { Data(repeating: UInt8(ascii: "["), count: 100_000) }),
        Case(
            "a repeated member",
            "malformed",
            document: { Data(#"{"payload":"e30=","payload":"e30=","signatures":[]}"#.utf8) }
        ),
        Case("an unknown member", "malformed") { $0.others = ["comment": "x"] },
        Case("no version", "malformed") { $0.version = .null },
        Case("version 0", "malformed") { $0.version = 0 },
        Case("a fraction as the version", "malformed") { $0.version = 7.5 },
        Case("an invalid time", "malformed") { $0.issued = "yesterday" },
        Case("expires before issued", "malformed") { $0.expires = "2020-01-01T00:00:00Z" },
        Case("no servers", "invalidServers") { $0.servers = [] },
        Case("a server with an unknown key", "invalidServers") { $0.servers = [["name": "a", "speed": 3]] },
        Case("a negative weight", "invalidServers") {
            $0.servers = Self.servers(
                ["test": "http://a.lists.test", "release": "https://a.lists.release"],
                weight: -1
            )
        },
        Case("two servers of the same name", "invalidServers") {
            let server =
                Self.servers(["test": "http://a.lists.test", "release": "https://a.lists.release"]).array ?? []
            $0.servers = .array(server + server)
        },
        Case("more servers than a service can have", "tooManyServers") {
            $0.servers = .array(
                (0..<65).map { ["name": .string("s\($0)"), "baseURLs": ["test": "http://a.lists.test"]] }
            )
        },
        Case("an environment missing", "missingEnvironment") {
            $0.servers = Self.servers(["test": "http://a.lists.test"])
        },
        Case("plain http", "insecureURL") {
            $0.servers = Self.servers(["test": "http://a.lists.test", "release": "http://a.lists.release"])
        },
        Case("a host outside the patterns", "foreignHost") {
            $0.servers = Self.servers(["test": "http://a.lists.test", "release": "https://evil.com"])
        },
        Case("a host that only ends like a pattern", "foreignHost") {
            $0.servers = Self.servers(["test": "http://a.lists.test", "release": "https://evillists.release"])
        },
        Case("a CDN outside the patterns", "foreignHost") {
            $0.servers = [
                [
                    "name": "a", "baseURLs": ["test": "http://a.lists.test", "release": "https://a.lists.release"],
                    "cdnURLs": ["release": "https://cdn.evil.com"],
                ]
            ]
        },
    ]

    private static func envelope(_ payload: Data, _ signatures: [(key: String, signature: Data)]) -> Data {
        let signatures = signatures.map { key, signature -> JSONValue in
            ["key": .string(key), "signature": .string(signature.base64EncodedString())]
        }
        let document: JSONValue = [
            "payload": .string(payload.base64EncodedString()), "signatures": .array(signatures),
        ]
        return document.data
    }

    @Test(arguments: forgeries + replays + mistakes)
    func `a forged, a replayed and a malformed server list are each refused with a different reason`(_ case: Case)
        throws
    {
        let rules = try rules()
        let newest = try ServerListDocument(ListMaker { $0.version = 5 }.document, signedBy: rules.keys)
        let other = try ServerListDocument(
            ListMaker {
                $0.version = 5
                $0.servers = Self.servers(["test": "http://old.lists.test", "release": "https://old.lists.release"])
            }.document,
            signedBy: rules.keys
        )

        let refusal = #expect(throws: ServerListRefusal.self) {
            let list = try ServerListDocument(`case`.document(), signedBy: rules.keys)
            try rules.check(list, newest: list.version == 5 ? other : newest, date: `case`.date)
        }

        let name = refusal.map { String("\(Mirror(reflecting: $0).children.first?.label ?? "\($0)")") }
        #expect(`case`.reason == "tooLarge" ? refusal == .tooLarge : name == `case`.reason)
        #expect(refusal?.description.isEmpty == false)
    }

    @Test func `a valid server list passes every rule`() throws {
        let rules = try rules()
        let newest = try ServerListDocument(ListMaker { $0.version = 5 }.document, signedBy: rules.keys)

        let list = try ServerListDocument(ListMaker().document, signedBy: rules.keys)
        try rules.check(list, newest: newest, date: ListMaker.issued + ListMaker.day)

        #expect(list.version == 7)
        #expect(list.servers.map(\.name) == ["primary", "fresh"])
    }

    @Test func `a server list with a valid and a wrong signature of a trusted key is accepted`() throws {
        let (good, bad) = (SigningKey("k2"), Data(count: 64))
        let payload = ListMaker().payload
        let valid = try #require(try Ed25519.signature(of: payload, by: good.privateKey))

        let document = Self.envelope(payload, [("k1", bad), ("k2", valid)])

        let keys = try [SigningKey("k1").trusted, good.trusted]
        #expect(throws: Never.self) { try ServerListDocument(document, signedBy: keys) }
    }

    /// The version of the newest list of earlier launches, whose app had older servers.
    @Test(arguments: [nil, 6])
    func `a server list whose version is lower than the built-in version is refused`(newest: JSONValue?) throws {
        let rules = try rules(builtInVersion: 8)
        let list = try ServerListDocument(ListMaker().document, signedBy: rules.keys)
        let stored = try newest.map { version in
            try ServerListDocument(ListMaker { $0.version = version }.document, signedBy: rules.keys)
        }

        #expect(throws: ServerListRefusal.outdated(version: 7, newest: 8)) {
            try rules.check(list, newest: stored, date: nil)
        }
    }
}
