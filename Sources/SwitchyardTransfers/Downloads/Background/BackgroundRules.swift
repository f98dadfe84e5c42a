import Foundation
import SwitchyardServices

/// The system's completion handlers that wait until a session has delivered its events.
///
/// The system passes a handler to the app when it wakes the app for a session, and ends an app that does not call the
/// handler in time (Apple, "EXC_CRASH (SIGKILL)", 0x2182bad3). The app's delegate and the session race, so the handler
/// can arrive before or after the events. A handler that arrives after the events is called immediately.
struct BackgroundHandlers {
    private var waiting: [() -> Void] = []
    /// Whether all recorded events had been delivered before a handler arrived.
    ///
    /// If `true`, the next handler is called immediately. A new event resets the value.
    private var isToldUnheard = false

    /// Adds a handler.
    ///
    /// - Returns: The handler if it must be called now; otherwise, `nil`.
    mutating func add(_ handler: @escaping () -> Void) -> (() -> Void)? {
        guard isToldUnheard else {
            waiting.append(handler)
            return nil
        }
        isToldUnheard = false
        return handler
    }

    /// Records that a download has started or ended.
    ///
    /// The session reports later that it has delivered this event, so a handler that arrives now must wait for that
    /// report.
    mutating func eventCame() {
        isToldUnheard = false
    }

    /// Records that all events have been delivered.
    ///
    /// - Returns: The waiting handlers. The session must call these handlers now.
    mutating func takeEventDeliveries() -> [() -> Void] {
        defer { waiting = [] }
        isToldUnheard = waiting.isEmpty
        return waiting
    }
}

/// The identifiers that background sessions in this process are using.
///
/// The behavior of two sessions with one identifier is undefined (Apple, URL Loading System Programming Guide, "Using
/// NSURLSession"). If a session is created before the earlier session with this identifier has become invalid, the
/// system may return the earlier session.
enum BackgroundIdentifiers {
    private static let taken = Locked<Set<String>>([])

    /// Reserves an identifier, or returns `false` if a session is already using it.
    static func claim(_ identifier: String) -> Bool {
        taken.withLock { $0.insert(identifier).inserted }
    }

    /// Releases the identifier of a session that has become invalid.
    static func release(_ identifier: String) {
        taken.withLock { _ = $0.remove(identifier) }
    }
}

/// The check of the URL at which a background download ended.
///
/// Background sessions follow redirects without asking (Apple,
/// `urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`).
enum BackgroundRedirects {
    /// Returns whether a downloaded file is acceptable.
    ///
    /// If https was requested or keys are pinned, a file that finally came over http is rejected because its origin is
    /// not authenticated.
    ///
    /// - Parameters:
    ///   - last: The URL of the response.
    ///   - first: The requested URL, or `nil` if the system no longer knows it.
    ///   - isPinned: Whether keys are pinned.
    /// - Returns: Whether the file is acceptable.
    static func allow(_ last: URL?, for first: URL?, isPinned: Bool) -> Bool {
        let isSecret = isPinned || first?.scheme?.lowercased() != "http"
        return !isSecret || last?.scheme?.lowercased() == "https"
    }
}
