import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

/// An inspector that shows a client's traffic live in a browser: the servers, and each call with its attempts, waits
/// and responses.
///
///     #if DEBUG
///         let inspector = try TrafficInspector(client)   // prints the address of the page
///     #endif
///
/// The inspector is for debug builds. The page is served only on 127.0.0.1, and only to programs that know the token in
/// the page's address. No other web page can read the data or send commands to the inspector. Credentials are hidden,
/// as in the log.
///
/// ### What it observes
/// The inspector observes the client only while a page is open, unless ``Options/recordsFromStart`` is set. A page is
/// open if it requested data within the last 30 seconds. Calls that were dispatched while the client was not observed
/// are not shown. While the client is not observed, the inspector adds no cost to the client's calls. A response from
/// the cache appears as a call without attempts.
///
/// ### What it keeps
/// The inspector keeps the newest calls (``Options/calls``), each with the header fields of its requests and responses
/// and at most ``Options/bodyBytes`` of bodies in each direction. Bodies that are not text take a third more memory.
/// With the default options, the calls take at most 66 MB if all bodies are text, and at most 88 MB if no body is text.
/// Of each event stream and WebSocket, the inspector keeps the newest 200 messages without their texts, which take at
/// most 20 MB more. ``Options/messageBytes`` adds the texts.
/// The calls are kept after the last page is closed, until ``stop()`` is called or the inspector is released.
public final class TrafficInspector: Sendable {
    /// The limits and permissions of an inspector.
    public struct Options: Sendable {
        /// The port to listen on; the default is any free port.
        public var port: UInt16 = 0
        /// Whether the next run of the app serves the page at the same address; the default is `true` in debug builds.
        ///
        /// The port and the token are stored in a file in the user's folder for caches, which only the user can read.
        /// If another socket listens on the stored port, the page gets a new port and a new token.
        public var keepsAddress = Options.isDebugBuild
        /// Whether calls are recorded from the start, and not only while a page is open; the default is `false`.
        public var recordsFromStart = false
        /// The maximum number of calls that are kept; the default is 500.
        ///
        /// If there are more calls, the oldest calls are dropped. Calls that failed, were sent more than once, or took
        /// at least a second are kept longer than other calls: up to half of the calls are for them.
        public var calls = 500
        /// The maximum number of body bytes that are kept per call in each direction; the default is 64 KiB.
        public var bodyBytes = 65_536
        /// The maximum number of bytes that are kept of each text of an event stream or a WebSocket; the default is 0.
        ///
        /// Of a message, the inspector keeps the direction, the time, the type and the size, and the beginning of the
        /// text only if this option is set. Credentials in the text are hidden. All texts of a call together take at
        /// most ``bodyBytes``. Of each call, the newest 200 messages are kept.
        public var messageBytes = 0
        /// The rules by which credentials are hidden; the default is ``/SwitchyardHTTP/Redaction/standard``.
        public var redaction = Redaction.standard
        /// Whether the page may switch the server and the environment, and simulate faults; the default is `false`.
        public var allowsControl = false
        /// Whether the inspector prints the address of the page; the default is `true`.
        public var printsAddress = true

        /// The file with the stored address, or `nil` for the default file.
        var addressFile: URL?

        /// Creates options with default values.
        public init() {}

        private static var isDebugBuild: Bool {
            #if DEBUG
                true
            #else
                false
            #endif
        }
    }

    /// The address of the page with its secret token: `http://127.0.0.1:49152/0123…/`.
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
        let file = options.keepsAddress ? options.addressFile ?? KeptAddress.file(of: client.service.name) : nil
        let kept = file.flatMap(KeptAddress.read)
        let token: String
        (server, token) = try Self.serve(options, kept)
        if let file { KeptAddress(port: server.port, token: token).write(file) }
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

    /// Starts the server of the page, at the stored address if that is possible.
    private static func serve(
        _ options: Options,
        _ kept: KeptAddress?
    ) throws(InspectorError) -> (LoopbackServer, token: String) {
        let limits = LoopbackLimits(recordedBodyBytes: 0, recordedRequests: 0)
        if let kept, options.port == 0 || options.port == kept.port {
            let server = LoopbackServer(port: kept.port, limits: limits)
            do throws(LoopbackError) {
                try server.start()
                return (server, kept.token)
            } catch {
                // Another program may have read the token of a page at this port, so the new page gets a new token.
            }
        }
        let server = LoopbackServer(port: options.port, limits: limits)
        do throws(LoopbackError) { try server.start() } catch { throw InspectorError(error) }
        return (server, PageGuard.makeToken())
    }

    /// Stops observing the client, and stops serving the page.
    ///
    /// Calling this method again has no effect.
    public func stop() {
        desk.end()
        server.stop()
    }

    /// Waits until a page is open, or returns `false` if the task was cancelled first.
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
