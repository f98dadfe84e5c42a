import Foundation
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
