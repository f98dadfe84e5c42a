import Foundation
import Testing

@testable import SwitchyardTransfers

/// What holds for downloads in the background, in terms that need no system to carry them out: row E27.
@Suite struct BackgroundRulesTests {
    /// Notes which handlers were called.
    private final class Calls {
        var names: [String] = []

        func handler(_ name: String) -> () -> Void {
            { self.names.append(name) }
        }
    }

    private let calls = Calls()

    @Test func `a handler is called when the events have been told`() {
        var handlers = BackgroundHandlers()
        handlers.add(calls.handler("first"))?()
        #expect(calls.names.isEmpty)

        for handler in handlers.takeEventDeliveries() { handler() }

        #expect(calls.names == ["first"])
    }

    @Test func `a handler that comes after the events is called at once`() {
        var handlers = BackgroundHandlers()
        for handler in handlers.takeEventDeliveries() { handler() }

        handlers.add(calls.handler("late"))?()

        #expect(calls.names == ["late"])
    }

    @Test func `two handlers that wait are both called`() {
        var handlers = BackgroundHandlers()
        handlers.add(calls.handler("first"))?()
        handlers.add(calls.handler("second"))?()

        for handler in handlers.takeEventDeliveries() { handler() }

        #expect(calls.names == ["first", "second"])
    }

    @Test func `a handler is called once`() {
        var handlers = BackgroundHandlers()
        handlers.add(calls.handler("first"))?()

        for _ in 0..<2 { for handler in handlers.takeEventDeliveries() { handler() } }

        #expect(calls.names == ["first"])
    }

    @Test func `what was told to no handler counts for one handler only`() {
        var handlers = BackgroundHandlers()
        for handler in handlers.takeEventDeliveries() { handler() }

        handlers.add(calls.handler("late"))?()
        handlers.add(calls.handler("next"))?()

        #expect(calls.names == ["late"])
    }

    @Test func `a handler waits for the events of downloads that went on since`() {
        var handlers = BackgroundHandlers()
        for handler in handlers.takeEventDeliveries() { handler() }
        handlers.eventCame()

        handlers.add(calls.handler("next"))?()
        #expect(calls.names.isEmpty)
        for handler in handlers.takeEventDeliveries() { handler() }

        #expect(calls.names == ["next"])
    }

    @Test func `an identifier is free again when its session is invalid, and not before`() {
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
    func `a file is taken from where redirects lead`(first: String, last: String) {
        #expect(BackgroundRedirects.allow(URL(string: last), for: URL(string: first), isPinned: false))
    }

    @Test(
        arguments: [
            ("https://a.example/f", "http://a.example/f"), ("https://a.example/f", "ftp://a.example/f"),
            ("https://a.example/f", nil), (nil, "http://a.example/f"),
        ] as [(String?, String?)]
    )
    func `a file is not taken from http where https was asked for`(first: String?, last: String?) {
        let (first, last) = (first.flatMap { URL(string: $0) }, last.flatMap { URL(string: $0) })

        #expect(!BackgroundRedirects.allow(last, for: first, isPinned: false))
    }

    @Test func `a file is not taken from http where keys are pinned`() {
        let plain = URL(string: "http://a.example/f")

        #expect(!BackgroundRedirects.allow(plain, for: plain, isPinned: true))
    }
}
