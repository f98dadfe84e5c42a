import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A real HTTP/1.1 server on 127.0.0.1 for tests.
///
/// The server sends the responses that a test needs and misbehaves on command.
///
///     let server = LoopbackServer()
///     server.route(.get, "/topics") { request in .json("[]") }
///     try server.start()
///     defer { server.stop() }
///     // ... send requests to server.baseURL ...
///     server.fault = .percentage(30, of: .hang)
///     await server.waitForRequests(3)
///     #expect(server.requests.map(\.path) == ["/topics", "/topics", "/topics"])
///
/// ### Routes
/// A route is a method and a path pattern (see ``LoopbackRoute``) with an async handler or a fixed response. Routes can
/// be set at any time. Each handler runs in its own task, so several handlers can run at the same time. When the client
/// disconnects, the handler's task is cancelled.
///
/// ### Faults
/// See ``Fault``. A fault is in effect as soon as the assignment that sets it returns, and it has ended as soon as the
/// assignment that removes it returns.
///
/// ### Threads
/// One thread serves all connections with non-blocking sockets; ``stop()`` closes every socket and joins the thread.
/// All members can be called from any thread.
public final class LoopbackServer: Sendable {
    private struct Running {
        let mailbox: Mailbox
        let thread: LoopThread
    }

    private struct State {
        var port: UInt16
        var running: Running?
    }

    let board: ServerState
    private let state: Locked<State>
    /// A lock that serializes ``start()`` and ``stop()``.
    ///
    /// The lock is held until the server thread has ended. Waiting with the lock cannot deadlock, because the server
    /// thread never acquires the lock.
    private let lifecycle = NSLock()

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - port: The port. If it is 0, the system chooses a port at the first start, and later starts use the same
    ///     port.
    ///   - limits: The limits on what the server buffers and records.
    public init(port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits()) {
        board = ServerState(limits: limits)
        state = Locked(State(port: port))
    }

    deinit {
        stop()
    }
}

// MARK: - Start and stop

extension LoopbackServer {
    /// The port of the server, or 0 if the system chooses the port and the server has never been started.
    public var port: UInt16 { state.withLock { $0.port } }

    /// The base URL of the server without a trailing slash, for example `http://127.0.0.1:49152`.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Whether the server has been started and not stopped.
    ///
    /// The value stays `true` under ``Fault/refuse``.
    public var isRunning: Bool { state.withLock { $0.running != nil } }

    /// Starts to listen.
    ///
    /// Does nothing if the server is already running.
    ///
    /// - Throws: ``LoopbackError/portInUse(_:)`` or ``LoopbackError/system(call:code:)``.
    public func start() throws(LoopbackError) {
        lifecycle.lock()
        defer { lifecycle.unlock() }
        guard !isRunning else { return }
        let mailbox = try Mailbox()
        let listener = try Listener(port: port)
        let ready = Latch()
        let thread: LoopThread
        do throws(LoopbackError) {
            thread = try LoopThread { [board] in
                EventLoop(board: board, mailbox: mailbox, listener: listener).run(onReady: ready)
            }
        } catch {
            Socket.close(listener.descriptor)
            throw error
        }
        ready.wait()
        state.withLock { state in
            state.port = listener.port
            state.running = Running(mailbox: mailbox, thread: thread)
        }
    }

    /// Stops the server.
    ///
    /// Closes every socket, cancels every handler's task, and waits for the end of the server's thread.
    ///
    /// If the server is not running, this method does nothing. Routes, faults and recorded requests are kept.
    public func stop() {
        lifecycle.withLock {
            let running = state.withLock { state in
                defer { state.running = nil }
                return state.running
            }
            guard let running else { return }
            _ = running.mailbox.post(.stop)
            running.thread.join()
        }
    }

    /// Closes all open connections, as a real server does after its idle timeout.
    ///
    /// The connections are closed when this method returns.
    public func closeConnections() {
        perform { .closeConnections($0) }
    }

    /// Sends a command to the event loop, and waits until the command has been executed.
    ///
    /// Does nothing if the server is not running.
    func perform(_ command: (Latch) -> LoopCommand) {
        guard let mailbox = state.withLock({ $0.running?.mailbox }) else { return }
        let latch = Latch()
        guard mailbox.post(command(latch)) else { return }
        latch.wait()
    }
}

extension LoopbackServer {
    /// The fault of the whole server, or `nil` (the default) if the server behaves correctly.
    ///
    /// For the requests of a route, a fault that is set on the route takes precedence. A fault is in effect as soon as
    /// the assignment returns, and can be set before the server starts.
    public var fault: Fault? {
        get { board.read { $0.serverFault?.fault } }
        set {
            board.change { $0.serverFault = $0.newFaultState(newValue) }
            perform { .applyFaults($0) }
        }
    }

    /// Sets the fault for the requests of a route.
    ///
    /// The route needs no handler, so you can use any path, prefix or method. If several routes with faults match a
    /// request, the fault of the most exact route applies.
    ///
    /// - Parameters:
    ///   - fault: The fault. If it is `nil`, the fault of the route is removed.
    ///   - route: The route. A string literal is a pattern for any method.
    public func setFault(_ fault: Fault?, on route: LoopbackRoute) {
        board.change { $0.routeFaults[route] = $0.newFaultState(fault) }
        perform { .applyFaults($0) }
    }

    /// Removes all faults, including the faults of routes.
    public func clearFaults() {
        board.change { state in
            state.serverFault = nil
            state.routeFaults = [:]
        }
        perform { .applyFaults($0) }
    }
}

extension ServerState.State {
    fileprivate mutating func newFaultState(_ fault: Fault?) -> FaultState? {
        guard let fault else { return nil }
        lastFault += 1
        return FaultState(fault, number: lastFault, since: .systemNow)
    }
}

extension LoopbackServer {
    /// The recorded requests in the order in which their heads arrived.
    ///
    /// If more requests have arrived than ``LoopbackLimits/recordedRequests``, the oldest are missing.
    ///
    /// A request is recorded as soon as its head has arrived, with the part of the body that has arrived so far.
    public var requests: [RecordedRequest] { board.read { $0.log.kept } }

    /// The statistics: the numbers of connections and requests.
    public var statistics: LoopbackStatistics { board.read { $0.statistics } }

    /// Removes the recorded requests, and resets the statistics except for the numbers of open connections and of
    /// requests in progress.
    public func clearRecords() {
        board.change { state in
            let old = state.statistics
            state.log.removeAll()
            state.statistics = LoopbackStatistics()
            state.statistics.connectionsOpen = old.connectionsOpen
            state.statistics.requestsInProgress = old.requestsInProgress
        }
    }

    /// Waits until at least this number of requests has arrived completely.
    ///
    /// Requests count from the creation of the server or the last call of ``clearRecords()``.
    ///
    /// - Returns: `false` if the task was cancelled first.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> Bool {
        await wait { $0.requestsCompleted >= count }
    }

    /// Waits until no request is in progress.
    ///
    /// - Returns: `false` if the task was cancelled first.
    @discardableResult
    public func waitUntilIdle() async -> Bool {
        await wait { $0.requestsInProgress == 0 }
    }

    /// Waits until the statistics satisfy a condition.
    ///
    /// The condition is evaluated after every change of the statistics.
    ///
    ///     await server.wait { $0.connectionsOpen == 0 }
    ///
    /// - Returns: `false` if the task was cancelled first.
    @discardableResult
    public func wait(until condition: @Sendable (LoopbackStatistics) -> Bool) async -> Bool {
        await board.wait(until: condition)
    }
}

extension LoopbackServer {
    /// Sets a handler that responds to the requests of a route.
    ///
    /// An earlier handler or response of the route is replaced.
    ///
    /// The server retains the handler. If a handler uses the server, it must capture the server `unowned` or `weak`;
    /// otherwise, the server is never released.
    ///
    /// - Parameters:
    ///   - method: The method, or `nil` for any method. GET also matches HEAD.
    ///   - pattern: The path. In it, `*` matches one segment, a trailing `*` matches all remaining segments, and
    ///     `{name}` matches and names one segment: see ``LoopbackRoute``.
    ///   - handler: The function that responds to a request. If the function throws `CancellationError`, the connection
    ///     is closed without a response. If it throws another error, the response has status 500.
    /// - Returns: The route, on which a fault can be set.
    @discardableResult
    public func route(
        _ method: HTTPMethod?,
        _ pattern: String,
        _ handler: @escaping LoopbackHandler
    ) -> LoopbackRoute {
        let route = LoopbackRoute(method, pattern)
        board.change { $0.router.set(.handler(handler), for: route) }
        return route
    }

    /// Sets a fixed response for the requests of a route.
    ///
    /// An earlier handler or response of the route is replaced.
    ///
    /// - Parameters:
    ///   - method: The method, or `nil` for any method. GET also matches HEAD.
    ///   - pattern: The path. In it, `*` matches one segment, a trailing `*` matches all remaining segments, and
    ///     `{name}` matches and names one segment: see ``LoopbackRoute``.
    ///   - response: The response, which is sent when the request has been read completely.
    /// - Returns: The route, on which a fault can be set.
    @discardableResult
    public func route(
        _ method: HTTPMethod?,
        _ pattern: String,
        answering response: LoopbackResponse
    ) -> LoopbackRoute {
        let route = LoopbackRoute(method, pattern)
        board.change { $0.router.set(.response(response), for: route) }
        return route
    }

    /// Removes a route.
    public func removeRoute(_ route: LoopbackRoute) {
        board.change { $0.router.remove(route) }
    }

    /// Sets the handler for requests that no route matches.
    ///
    /// Without a handler (`nil`), the server sends status 405 if a route matches the path with another method, and
    /// status 404 otherwise.
    public func setDefaultRoute(_ handler: LoopbackHandler?) {
        board.change { $0.router.fallback = handler.map { .handler($0) } }
    }
}

/// An error of a ``LoopbackServer``.
public enum LoopbackError: Error, Sendable, Hashable {
    /// Another socket listens on the port.
    case portInUse(UInt16)
    /// A call to the operating system failed with this `errno` code.
    case system(call: String, code: Int32)
    /// The client closed the connection, or the server was stopped.
    case connectionClosed
    /// The client sent a request that is not valid HTTP/1.1.
    ///
    /// The server responded with this status.
    case badRequest(status: Int, reason: String)
    /// The body is larger than the limit that was passed to ``LoopbackRequestBody/collect(upTo:)``.
    case bodyTooLarge(limit: Int)
    /// The waiting task was cancelled.
    case cancelled
}

extension LoopbackError: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .portInUse(let port): "port \(port) is in use"
        case .system(let call, let code): "\(call) failed with errno \(code)"
        case .connectionClosed: "the connection was closed"
        case .badRequest(let status, let reason): "bad request (\(status)): \(reason)"
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .cancelled: "the task was cancelled"
        }
    }
}
