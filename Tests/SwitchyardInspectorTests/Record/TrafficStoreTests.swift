import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

@Suite struct TrafficStoreTests {
    @Test func `the inspector keeps only the latest events of the servers`() {
        let store = TrafficStore(
            calls: 1,
            keeper: ExchangeKeeper(redaction: .standard, bodyBytes: 0),
            messageKeeper: MessageKeeper(redaction: .standard, bytes: 0),
            clock: WallClock(ManualClock()),
            bell: FeedCondition()
        )
        let count = TrafficStore.eventLimit + 100

        for _ in 0..<count {
            let event = SwitchEvent(at: .zero, .probed("a", succeeded: false))
            store.take(ClientEvent(environment: .test, event: event))
        }

        #expect(store.news(after: 0).events.map(\.number) == Array(101...count))
    }
}
