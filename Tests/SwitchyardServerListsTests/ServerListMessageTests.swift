import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardServerLists

@Suite struct ServerListMessageTests {
    private static let number = "must be a whole number of at least 1"
    private static let time = "must be a time such as 2026-11-28T12:00:00Z"

    private static func refusal(of document: Data) -> ServerListRefusal? {
        do throws(ServerListRefusal) {
            _ = try ServerListDocument(unverified: document)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (ListMaker { $0.version = 7.5 }, "version of the payload is 7.5: \(number)"),
        (ListMaker { $0.version = "7\n\u{2028}8" }, "version of the payload is \"7  8\": \(number)"),
        (ListMaker { $0.version = true }, "version of the payload is true: \(number)"),
        (ListMaker { $0.version = .null }, "version of the payload is missing: \(number)"),
        (ListMaker { $0.issued = "yesterday" }, "issued of the payload is \"yesterday\": \(time)"),
        (ListMaker { $0.issued = 5 }, "issued of the payload is 5: \(time)"),
        (ListMaker { $0.servers = [:] }, "servers of the payload is an object: must be an array"),
        (
            ListMaker { $0.issued = .string(String(repeating: "9", count: 100)) },
            "issued of the payload is \"\(String(repeating: "9", count: 64))…\": \(time)"
        ),
    ])
    func `the refusal of a server list names the member, its value and the allowed values`(
        list: ListMaker,
        message: String
    ) throws {
        #expect(Self.refusal(of: try list.document) == .malformed(message))
    }

    @Test(arguments: [
        ("{}", "payload of the document is missing: must be a string that is not empty"),
        (#"{"payload": "!"}"#, "payload of the document is \"!\": must be Base64"),
        (#"{"payload": "e30=", "payload": "e30="}"#, "the document has the member payload more than once"),
        (#"{"a\nb": 1, "a\nb": 2}"#, "the document has the member a b more than once"),
        (
            #"{"payload": "e30=", "signatures": [{"key": "a", "signature": ""}]}"#,
            "signature of a signature is empty: must be a string that is not empty"
        ),
    ])
    func `the refusal of a document that is not a server list names the member and its value`(
        document: String,
        message: String
    ) {
        #expect(Self.refusal(of: Data(document.utf8)) == .malformed(message))
    }
}
