import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardServerLists

/// The time by which a list is judged.
///
/// The clock of the device is never read.
@Suite struct ServerListClockTests {
    @Test(arguments: [nil, -20_000, -1, 0, 29, 30, 36.9] as [Double?])
    func `a server list is accepted until its grace period after expiry has ended, or if the time is unknown`(
        days: Double?
    ) throws {
        let rules = try rules()
        let list = try ServerListDocument(ListMaker().document, signedBy: rules.keys)
        let date = days.map { ListMaker.issued + max($0, -1) * ListMaker.day }

        #expect(throws: Never.self) { try rules.check(list, newest: nil, date: date) }
    }

    @Test func `a list that expired before the newest list was issued is refused even if the server's clock is slow`()
        throws
    {
        let rules = try rules()
        let newest = try ServerListDocument(ListMaker().document, signedBy: rules.keys)
        let old = try ServerListDocument(
            ListMaker {
                $0.version = 8
                $0.issued = "2025-01-01T00:00:00Z"
                $0.expires = "2025-02-01T00:00:00Z"
            }.document,
            signedBy: rules.keys
        )

        let refusal = #expect(throws: ServerListRefusal.self) {
            try rules.check(old, newest: newest, date: Date(timeIntervalSince1970: 0))
        }

        if case .expired(_, let now) = refusal { #expect(now == newest.issued) } else { Issue.record("\(refusal!)") }
    }

    @Test
    func `a server list that was issued in the far future is replaced by a higher version that expires later`()
        throws
    {
        let rules = try rules()
        let wrong = ListMaker {
            $0.issued = "2099-01-01T00:00:00Z"
            $0.expires = "2099-02-01T00:00:00Z"
        }
        let newest = try ServerListDocument(wrong.document, signedBy: rules.keys)
        #expect(throws: Never.self) { try rules.check(newest, newest: nil, date: nil) }
        let right = ListMaker {
            $0.version = 8
            $0.expires = "2099-03-01T00:00:00Z"
        }
        let list = try ServerListDocument(right.document, signedBy: rules.keys)

        #expect(throws: Never.self) { try rules.check(list, newest: newest, date: ListMaker.issued) }
        #expect(throws: Never.self) { try rules.check(list, newest: newest, date: nil) }
    }

    @Test func `the current time is the later of the server's date and the issue time of the newest list`() throws {
        let list = try ServerListDocument(ListMaker().document, signedBy: rules().keys)

        #expect(ServerListRules.now(nil, nil) == nil)
        #expect(ServerListRules.now(list, nil) == list.issued)
        #expect(ServerListRules.now(list, list.issued - 1) == list.issued)
        #expect(ServerListRules.now(list, list.issued + 1) == list.issued + 1)
    }
}
