import Foundation
import Testing

@testable import SwitchyardTransfers

/// Rules of background downloads that can be tested without a background session.
@Suite struct BackgroundRulesTests {
    /// Records the called handlers.
    private final class Calls {
        var names: [String] = []

        func handler(_ name: String) -> () -> Void {
            { self.names.append(name) }
        }
    }

    private let calls = Calls()

    @Test func `a handler of a background session is called when the session's events have been delivered`() {
        var handlers = BackgroundHandlers()
        handlers.add(calls.handler("first"))?()
        #expect(calls.names.isEmpty)

        for handler in handlers.takeEventDeliveries() { handler() }

        #expect(calls.names == ["first"])
    }

    @Test func `a handler that is added after the background session's events were delivered is called immediately`() {
        var handlers = BackgroundHandlers()
        for handler in handlers.takeEventDeliveries() { handler() }

        handlers.add(calls.handler("late"))?()

        #expect(calls.names == ["late"])
    }

    @Test func `all waiting handlers of a background session are called`() {
        var handlers = BackgroundHandlers()
        handlers.add(calls.handler("first"))?()
        handlers.add(calls.handler("second"))?()

        for handler in handlers.takeEventDeliveries() { handler() }

        #expect(calls.names == ["first", "second"])
    }

    @Test func `a handler of a background session is called once`() {
        var handlers = BackgroundHandlers()
        handlers.add(calls.handler("first"))?()

        for _ in 0..<2 { for handler in handlers.takeEventDeliveries() { handler() } }

        #expect(calls.names == ["first"])
    }

    @Test
    func `if events are delivered before any handler is added, only the next handler is called`() {
        var handlers = BackgroundHandlers()
        for handler in handlers.takeEventDeliveries() { handler() }

        handlers.add(calls.handler("late"))?()
        handlers.add(calls.handler("next"))?()

        #expect(calls.names == ["late"])
    }

    @Test func `a handler of a background session waits for events that arrived after the last delivery`() {
        var handlers = BackgroundHandlers()
        for handler in handlers.takeEventDeliveries() { handler() }
        handlers.eventCame()

        handlers.add(calls.handler("next"))?()
        #expect(calls.names.isEmpty)
        for handler in handlers.takeEventDeliveries() { handler() }

        #expect(calls.names == ["next"])
    }

    @Test func `the identifier of a background session can be used again only after the session is invalid`() {
        let identifier = "films \(UUID())"

        #expect(BackgroundIdentifiers.claim(identifier))
        #expect(!BackgroundIdentifiers.claim(identifier))
        BackgroundIdentifiers.release(identifier)
        #expect(BackgroundIdentifiers.claim(identifier))
    }

    @Test(arguments: [
        ("https://a.example/f", "https://b.example/f"), ("http://a.example/f", "https://b.example/f"),
        ("http://a.example/f", "http://b.example/f"), ("HTTPS://a.example/f", "HTTPS://a.example/f"),
    ])
    func `a background download follows a redirect that keeps or improves security`(first: String, last: String) {
        #expect(BackgroundRedirects.allow(URL(string: last), for: URL(string: first), isPinned: false))
    }

    @Test(
        arguments: [
            ("https://a.example/f", "http://a.example/f"), ("https://a.example/f", "ftp://a.example/f"),
            ("https://a.example/f", nil), (nil, "http://a.example/f"),
        ] as [(String?, String?)]
    )
    func `a background download does not follow a redirect from https to http`(first: String?, last: String?) {
        let (first, last) = (first.flatMap { URL(string: $0) }, last.flatMap { URL(string: $0) })

        #expect(!BackgroundRedirects.allow(last, for: first, isPinned: false))
    }

    @Test func `a background download with pinned keys does not accept http`() {
        let plain = URL(string: "http://a.example/f")

        #expect(!BackgroundRedirects.allow(plain, for: plain, isPinned: true))
    }
}
