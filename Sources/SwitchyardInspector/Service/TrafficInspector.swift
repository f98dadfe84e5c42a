import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardTesting

/// An inspector that shows a client's traffic live in a browser: the servers, and each call with its attempts, waits
/// and responses.
///
///     #if DEBUG
///         let inspector = try TrafficInspector(client)   // prints the address of the page
///     #endif
///
/// The inspector is for debug builds. The page is served only on 127.0.0.1, and only to callers that know the token in
/// the page's address. No other web page can read the data or send commands to the inspector. Credentials are hidden,
/// as in the log.
///
/// ### What it observes
/// The inspector observes the client only while a page is open. A page is open if it requested data within the last 30
/// seconds. Calls that were dispatched while no page was open are not shown. While no page is open, the inspector adds
/// no cost to the client's calls. A response from the cache appears as a call without attempts.
///
/// ### What it keeps
/// The inspector keeps the newest calls (``Options/calls``), each with the heads of its messages and at most
/// ``Options/bodyBytes`` of bodies in each direction. Bodies that are not text take a third more memory. With the
/// default options, the calls take at most 66 MB if all bodies are text, and at most 88 MB if no body is text. The
/// calls are kept after the last page is closed, until ``stop()`` is called or the inspector is released.
public final class TrafficInspector: Sendable {
    /// The limits and permissions of an inspector.
    public struct Options: Sendable {
        /// The port to listen on; the default is any free port.
        public var port: UInt16 = 0
        /// The maximum number of calls that are kept; the default is 500.
        ///
        /// If there are more calls, the oldest are dropped.
        public var calls = 500
        /// The maximum number of body bytes that are kept per call in each direction; the default is 64 KiB.
        public var bodyBytes = 65_536
        /// The rules by which credentials are hidden; the default is ``/SwitchyardHTTP/Redaction/standard``.
        public var redaction = Redaction.standard
        /// Whether the page may switch the server and the environment, and simulate faults; the default is `false`.
        public var allowsControl = false
        /// Whether the inspector prints the address of the page; the default is `true`.
        public var printsAddress = true

        /// Creates options with default values.
        public init() {}
    }

    /// The address of the page with its token: `http://127.0.0.1:49152/0123…/`.
    public let address: String
    let desk: InspectorController
    private let server: LoopbackServer

    /// Attaches an inspector to a client, and serves the page.
    ///
    /// The inspector does not keep the client's requests alive: releasing the client cancels its requests as usual. The
    /// transport of the client is shut down only after the inspector has been released too.
    ///
    /// - Parameters:
    ///   - client: The client, or a client handle made by `scoped()`. The requests of the client and of all its handles
    ///     are shown.
    ///   - options: The limits and permissions of the inspector.
    /// - Throws: An ``InspectorError`` if the inspector cannot listen or the page's resources are missing.
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
        desk = InspectorController(client, options)
        let pages = InspectorPages(desk: desk, access: PageGuard(token: token, port: server.port), html: html)
        server.setDefaultRoute { await pages.answer($0) }
        if options.printsAddress {
            print("inspector: \(address)")
            fflush(nil)  // Output to a file or a pipe is buffered.
        }
    }

    deinit {
        stop()
    }

    /// Stops observing the client, and stops serving the page.
    ///
    /// Calling this method again has no effect.
    public func stop() {
        desk.end()
        server.stop()
    }

    /// Waits until a page is open, or returns `false` if the task was cancelled before.
    package func waitForPage() async -> Bool {
        await server.wait { _ in desk.isWatched }
    }
}

/// An error that prevents an inspector from starting.
public enum InspectorError: Error, Sendable, Hashable {
    /// Another socket listens on the port.
    case portInUse(UInt16)
    /// The system refused to open the listening socket, for this reason.
    case cannotListen(String)
    /// The resources of the module, which contain the page, were not found.
    case missingPage(String)

    init(_ error: LoopbackError) {
        self = if case .portInUse(let port) = error { .portInUse(port) } else { .cannotListen("\(error)") }
    }
}

extension InspectorError: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .portInUse(let port): "port \(port) is in use"
        case .cannotListen(let reason), .missingPage(let reason): reason
        }
    }
}
