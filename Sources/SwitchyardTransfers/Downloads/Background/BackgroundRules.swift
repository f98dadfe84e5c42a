import Foundation
import SwitchyardServices

/// The system's completion handlers that wait until a session has told its events.
///
/// The system hands one over when it wakes the app for a session, and ends an app that does not call it in time (Apple,
/// "EXC_CRASH (SIGKILL)", 0x2182bad3). Whether it comes before or after the events is a race between the app's delegate
/// and the session, so one that comes after them is called at once.
struct BackgroundHandlers {
    private var waiting: [() -> Void] = []
    /// Whether all was told while no handler waited, and nothing has happened since.
    private var isToldUnheard = false

    /// Takes a handler.
    ///
    /// - Returns: The handler, when it is to be called now.
    mutating func add(_ handler: @escaping () -> Void) -> (() -> Void)? {
        guard isToldUnheard else {
            waiting.append(handler)
            return nil
        }
        isToldUnheard = false
        return handler
    }

    /// Takes note that a download has started or ended: of the events from now on the session will say when they are
    /// told.
    mutating func eventCame() {
        isToldUnheard = false
    }

    /// Takes note that all events have been told.
    ///
    /// - Returns: The handlers, which are to be called now.
    mutating func eventsWereTold() -> [() -> Void] {
        defer { waiting = [] }
        isToldUnheard = waiting.isEmpty
        return waiting
    }
}

/// The identifiers of the background sessions that this process has.
///
/// What two sessions of one identifier do is undefined (Apple, URL Loading System Programming Guide, "Using
/// NSURLSession"), and one that is made anew before the old one has become invalid may turn out to be the old one.
enum BackgroundIdentifiers {
    private static let taken = Locked<Set<String>>([])

    /// Takes an identifier; `false` when a session has it.
    static func claim(_ identifier: String) -> Bool {
        taken.withLock { $0.insert(identifier).inserted }
    }

    /// Gives an identifier back, whose session has become invalid.
    static func release(_ identifier: String) {
        taken.withLock { _ = $0.remove(identifier) }
    }
}

/// What may come of redirects, which background sessions follow without asking (Apple,
/// `urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`).
enum BackgroundRedirects {
    /// Whether a file may be taken: one that came over http in the end, where https was asked for or keys are pinned,
    /// may be anybody's.
    ///
    /// - Parameters:
    ///   - last: The URL of the answer.
    ///   - first: The URL that was asked for; `nil` when the system does not know it any more.
    ///   - isPinned: Whether keys are pinned.
    /// - Returns: Whether it may.
    static func allow(_ last: URL?, for first: URL?, isPinned: Bool) -> Bool {
        let isSecret = isPinned || first?.scheme?.lowercased() != "http"
        return !isSecret || last?.scheme?.lowercased() == "https"
    }
}
