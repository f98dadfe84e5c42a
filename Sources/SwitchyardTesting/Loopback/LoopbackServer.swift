import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A real HTTP/1.1 server on 127.0.0.1 that answers as a test wants, and misbehaves on command.
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
/// A route is a method and a pattern (see ``LoopbackRoute``) with an async handler or a fixed response. They may be set
/// at any time. Handlers run as tasks of their connection: several at once, cancelled when the client goes.
///
/// ### Faults
/// See ``Fault``. A fault that is set or taken away is in force when the assignment returns.
///
/// ### Threads
/// One thread serves all connections with non-blocking sockets; ``stop()`` closes every socket and joins it. Everything
/// here may be called from any thread.
public final class LoopbackServer: Sendable {
    private struct Running {
        let mailbox: Mailbox
        let thread: LoopThread
    }

    private struct State {
        var port: UInt16
        var running: Running?
    }

    let board: ServerBoard
    private let state: Locked<State>
    /// Keeps a start or a stop from overtaking another; held while the thread ends, which never asks for it.
    private let lifecycle = NSLock()

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - port: The port; 0 lets the system choose one at the first start, which is kept for later starts.
    ///   - limits: How much the server takes and keeps.
    public init(port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits()) {
        board = ServerBoard(limits: limits)
        state = Locked(State(port: port))
    }

    deinit {
        stop()
    }
}

// MARK: - Start and stop

extension LoopbackServer {
    /// The port; 0 before the first start if the system is to choose it.
    public var port: UInt16 { state.withLock { $0.port } }

    /// Where the server can be reached, for example `http://127.0.0.1:49152`, without a slash at the end.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Whether the server has been started and not stopped.
    ///
    /// Stays `true` under ``Fault/refuse``.
    public var isRunning: Bool { state.withLock { $0.running != nil } }

    /// Starts to listen; does nothing when the server is running.
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

    /// Stops: when it returns, every socket is closed, every handler's task cancelled, and the thread has ended.
    ///
    /// Does nothing when the server is not running. Routes, faults and records stay as they are.
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

    /// Closes all connections that are open, as a server does after its idle timeout.
    ///
    /// When it returns, they are closed.
    public func closeConnections() {
        perform { .closeConnections($0) }
    }

    /// Has the loop carry out a command, and waits for it; does nothing when the server is not running.
    func perform(_ command: (Latch) -> LoopCommand) {
        guard let mailbox = state.withLock({ $0.running?.mailbox }) else { return }
        let latch = Latch()
        guard mailbox.post(command(latch)) else { return }
        latch.wait()
    }
}

extension LoopbackServer {
    /// How the server misbehaves; `nil`, the default, is not at all.
    ///
    /// The fault of a route goes before that of the server for its requests. It is in force when the assignment returns,
    /// and may be set before the start.
    public var fault: Fault? {
        get { board.read { $0.serverFault?.fault } }
        set {
            board.change { $0.serverFault = $0.newFaultState(newValue) }
            perform { .applyFaults($0) }
        }
    }

    /// Lets the requests of a route suffer a fault; `nil` takes it away.
    ///
    /// The route need not be one that has a handler: a path, a prefix and a single method are fine. When several match a
    /// request, the most exact one decides.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - route: The route; a string literal is a pattern for any method.
    public func setFault(_ fault: Fault?, on route: LoopbackRoute) {
        board.change { $0.routeFaults[route] = $0.newFaultState(fault) }
        perform { .applyFaults($0) }
    }

    /// Takes all faults away, those of routes included.
    public func clearFaults() {
        board.change { state in
            state.serverFault = nil
            state.routeFaults = [:]
        }
        perform { .applyFaults($0) }
    }
}

extension ServerBoard.State {
    fileprivate mutating func newFaultState(_ fault: Fault?) -> FaultState? {
        guard let fault else { return nil }
        lastFault += 1
        return FaultState(fault, number: lastFault, since: .systemNow)
    }
}

extension LoopbackServer {
    /// The requests that have arrived, in the order of their heads; the number that is kept is limited.
    ///
    /// A request is here as soon as its head is, with the part of the body that has come so far.
    public var requests: [RecordedRequest] { board.read { $0.log.kept } }

    /// The counts.
    public var statistics: LoopbackStatistics { board.read { $0.statistics } }

    /// Forgets the recorded requests and sets the counts to 0, but for what is open or in progress.
    public func clearRecords() {
        board.change { state in
            let old = state.statistics
            state.log.removeAll()
            state.statistics = LoopbackStatistics()
            state.statistics.connectionsOpen = old.connectionsOpen
            state.statistics.requestsInProgress = old.requestsInProgress
        }
    }

    /// Waits until so many requests have arrived to their end since the server was made or its records cleared.
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> Bool {
        await wait { $0.requestsCompleted >= count }
    }

    /// Waits until no request is in progress.
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func waitUntilIdle() async -> Bool {
        await wait { $0.requestsInProgress == 0 }
    }

    /// Waits until the counts fulfil a condition; it is looked at again after every change.
    ///
    ///     await server.wait { $0.connectionsOpen == 0 }
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func wait(until condition: @Sendable (LoopbackStatistics) -> Bool) async -> Bool {
        await board.wait(until: condition)
    }
}

extension LoopbackServer {
    /// Answers the requests of a route with a handler, in place of what was set for it before.
    ///
    /// The server keeps the handler; one that uses the server itself captures it `unowned` or `weak`, or else the server
    /// is never released.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` is any, and GET is also for HEAD.
    ///   - pattern: The path, with `*` for one segment or, at the end, for all that follow, and `{name}` for one that has
    ///     a name: see ``LoopbackRoute``.
    ///   - handler: Answers a request. An error that it throws becomes a 500, `CancellationError` a connection that is
    ///     closed without a response.
    /// - Returns: The route, to set a fault on it.
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

    /// Answers the requests of a route with one and the same response, which costs no task.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` is any, and GET is also for HEAD.
    ///   - pattern: The path, with `*` for one segment or, at the end, for all that follow, and `{name}` for one that has
    ///     a name: see ``LoopbackRoute``.
    ///   - response: The response; it is sent when the request has been read to its end.
    /// - Returns: The route, to set a fault on it.
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

    /// Takes a route away.
    public func removeRoute(_ route: LoopbackRoute) {
        board.change { $0.router.remove(route) }
    }

    /// Answers the requests that no route matches; `nil` answers them with 404, or 405 when another method would match.
    public func setDefaultRoute(_ handler: LoopbackHandler?) {
        board.change { $0.router.fallback = handler.map { .handler($0) } }
    }
}

/// Why a ``LoopbackServer`` could not do something.
public enum LoopbackError: Error, Sendable, Hashable {
    /// Another socket listens on the port.
    case portInUse(UInt16)
    /// A call to the operating system failed; the code is its `errno`.
    case system(call: String, code: Int32)
    /// The client closed the connection, or the server was stopped.
    case connectionClosed
    /// The client sent what is not HTTP/1.1, and got the status given.
    case badRequest(status: Int, reason: String)
    /// The body is larger than the limit given to the call that collects it.
    case bodyTooLarge(limit: Int)
    /// The task that waited was cancelled.
    case cancelled
}

extension LoopbackError: CustomStringConvertible {
    /// What happened, in words.
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
