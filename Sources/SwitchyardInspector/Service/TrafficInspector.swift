import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardTesting

/// Shows in a browser what a client does, while it does it: each call with its attempts, waits and answers, and the
/// servers.
///
///     #if DEBUG
///         let inspector = try TrafficInspector(client)   // prints the address of the page
///     #endif
///
/// It is for debug builds. The page is served on 127.0.0.1 only, and only to whoever knows the token in its address. No
/// web page elsewhere can read it or send it commands. Credentials are hidden, as in the log.
///
/// ### What it sees
/// It looks on only while a page is open: one that asked for news within the last 30 seconds. Calls that were dispatched
/// when none was open are not shown. While nobody looks on, the client's calls cost what they cost without it. An
/// answer from the cache is a call without attempts.
///
/// ### What it keeps
/// The newest calls (``Options/calls``), each with the heads of its messages and at most ``Options/bodyBytes`` of bodies
/// in each direction, a third more for what is no text: with the defaults 66 MB of text at most, when every call has sent
/// and got as much, or 88 MB of other bytes. It keeps them when the last page is closed, until ``stop()`` or its release.
public final class TrafficInspector: Sendable {
    /// What an inspector keeps and allows.
    public struct Options: Sendable {
        /// The port; one that is free unless set.
        public var port: UInt16 = 0
        /// How many calls are kept, the newest; 500 unless set.
        public var calls = 500
        /// How many bytes of the bodies of a call are kept in each direction; 64 KiB unless set.
        public var bodyBytes = 65_536
        /// What is hidden; ``/SwitchyardHTTP/Redaction/standard`` unless set.
        public var redaction = Redaction.standard
        /// Whether the page may switch the server and the environment, and have the next calls meet a fault; not unless
        /// set.
        public var allowsControl = false
        /// Whether the address is printed; it is unless set.
        public var printsAddress = true

        /// Creates options; every one has a default.
        public init() {}
    }

    /// Where the page is, with its token: `http://127.0.0.1:49152/0123…/`.
    public let address: String
    let desk: InspectorDesk
    private let server: LoopbackServer

    /// Attaches an inspector to a client, and serves the page.
    ///
    /// Whoever releases the client has its requests cancelled as without an inspector; its transport is shut down when the
    /// inspector is released too.
    ///
    /// - Parameters:
    ///   - client: The client, or one of its scopes; what is sent through any of them is shown.
    ///   - options: What is kept and allowed.
    /// - Throws: ``InspectorError`` when it cannot listen, or has no page.
    public init(_ client: NetworkClient, options: Options = Options()) throws(InspectorError) {
        let html: String
        do { html = try InspectorPage().html } catch { throw .missingPage("\(error)") }
        server = LoopbackServer(
            port: options.port,
            limits: LoopbackLimits(recordedBodyBytes: 0, recordedRequests: 0)
        )
        do throws(LoopbackError) { try server.start() } catch { throw InspectorError(error) }
        let token = PageGuard.makeToken()
        address = "\(server.baseURL)/\(token)/"
        desk = InspectorDesk(client, options)
        let pages = InspectorPages(desk: desk, access: PageGuard(token: token, port: server.port), html: html)
        server.setDefaultRoute { await pages.answer($0) }
        if options.printsAddress {
            print("inspector: \(address)")
            fflush(nil)  // Into a file or a pipe too, where it would wait for more.
        }
    }

    deinit {
        stop()
    }

    /// Ends it: nobody looks on any more, and the page is gone.
    ///
    /// Calling it again is harmless.
    public func stop() {
        desk.end()
        server.stop()
    }

    /// Waits until a page is open; `false` when the task was cancelled before.
    package func waitForPage() async -> Bool {
        await server.wait { _ in desk.isWatched }
    }
}

/// Why there is no inspector.
public enum InspectorError: Error, Sendable, Hashable {
    /// Another socket listens on the port.
    case portInUse(UInt16)
    /// The system does not let it, for this reason.
    case cannotListen(String)
    /// The module's resources, the page among them, do not stand beside the program.
    case missingPage(String)

    init(_ error: LoopbackError) {
        self = if case .portInUse(let port) = error { .portInUse(port) } else { .cannotListen("\(error)") }
    }
}

extension InspectorError: CustomStringConvertible {
    /// What is in the way, in words.
    public var description: String {
        switch self {
        case .portInUse(let port): "port \(port) is in use"
        case .cannotListen(let reason), .missingPage(let reason): reason
        }
    }
}
