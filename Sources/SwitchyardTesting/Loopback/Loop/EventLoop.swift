import Foundation
import SwitchyardServices

/// The event loop of a running server.
///
/// It waits for sockets, commands and timers.
///
/// The event loop is created on its own thread, and no other thread accesses it. Other threads send commands through
/// its ``Mailbox``.
final class EventLoop {
    let board: ServerState
    let mailbox: Mailbox
    var poller = Poller()
    let receiveBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    var timers = TimerQueue()
    var listener: Listener
    var lateExecutions = LateExecutions()
    private var connections: [Int32: Connection] = [:]
    private var isStopped = false

    init(board: ServerState, mailbox: Mailbox, listener: Listener) {
        self.board = board
        self.mailbox = mailbox
        self.listener = listener
    }

    deinit {
        receiveBuffer.deallocate()
    }

    var now: MonotonicTime { .systemNow }

    /// Whether packets are lost (``Fault/blackHole``), so that no bytes are read from or written to connections.
    var isSilent: Bool { listener.mode == .silent }

    /// Runs until a stop command arrives, and then closes all sockets.
    func run(onReady ready: Latch) {
        poller.watch(mailbox.wakeDescriptor, for: .read)
        listener.watch(on: &poller)
        applyFaults()
        ready.open()
        while !isStopped {
            let events = poller.wait(milliseconds: timeout)
            for event in events { handle(event.descriptor, event.readiness) }
            for command in mailbox.take() { carryOut(command) }
            let now = now
            while let action = timers.popDue(at: now) { action() }
        }
        tearDown()
    }

    /// Calls `action` on the event loop after a delay.
    func after(_ delay: Duration, _ action: @escaping () -> Void) -> TimerQueue.Token {
        timers.add(at: now.advanced(by: delay), action)
    }

    /// Removes a connection that has closed.
    func remove(_ connection: Connection) {
        connections[connection.descriptor] = nil
        board.change { $0.statistics.connectionsOpen -= 1 }
    }

    /// Closes all connections, as if the process had died.
    func closeConnections() {
        for connection in Array(connections.values) { connection.close() }
    }

    func forEachConnection(_ body: (Connection) -> Void) {
        for connection in Array(connections.values) { body(connection) }
    }

    /// Adds an accepted connection.
    func add(_ descriptor: Int32) {
        let number = board.change { state in
            state.lastConnection += 1
            state.statistics.connectionsAccepted += 1
            state.statistics.connectionsOpen += 1
            return state.lastConnection
        }
        let connection = Connection(descriptor: descriptor, number: number, loop: self)
        connections[descriptor] = connection
        connection.updateInterest()
    }

    private func handle(_ descriptor: Int32, _ readiness: Readiness) {
        if descriptor == listener.descriptor {
            acceptConnections()
        } else {
            connections[descriptor]?.handle(readiness)
        }
    }

    /// The number of milliseconds until the next timer, rounded up, or -1 if there is no timer.
    private var timeout: Int32 {
        guard let earliest = timers.earliest else { return -1 }
        let nanoseconds = max(0, now.duration(to: earliest).clampedNanoseconds)
        return Int32(min(60_000, (nanoseconds + 999_999) / 1_000_000))
    }

    private func tearDown() {
        closeConnections()
        cancelLateExecutions()
        listener.close(on: &poller)
        poller.forget(mailbox.wakeDescriptor)
        for command in mailbox.close() { command.drop() }
    }
}

// MARK: - Commands

extension EventLoop {
    private func carryOut(_ command: LoopCommand) {
        switch command {
        case .respond(let id, let response):
            connection(of: id)?.respond(response)
            lateExecutionEnded(id)
        case .write(let id, let piece, let acknowledgement):
            if let connection = connection(of: id) {
                connection.write(piece, acknowledgement)
            } else {
                acknowledgement.call(false)
            }
        case .trailers(let id, let trailers): connection(of: id)?.exchange?.reply?.trailers = trailers
        case .finish(let id): connection(of: id)?.finish()
        case .fail(let id):
            connection(of: id)?.fail()
            lateExecutionEnded(id)
        case .readMore(let id): connection(of: id)?.readMore()
        case .follow(let id, let bytes):
            guard let connection = connections[id.descriptor], connection.number == id.connection else { return }
            connection.send(bytes, ofFollower: id.number)
        case .applyFaults(let latch):
            applyFaults()
            latch.open()
        case .closeConnections(let latch):
            closeConnections()
            latch.open()
        case .stop: isStopped = true
        }
    }

    private func connection(of id: ExchangeID) -> Connection? {
        guard let connection = connections[id.descriptor], connection.exchange?.id == id else { return nil }
        return connection
    }
}
