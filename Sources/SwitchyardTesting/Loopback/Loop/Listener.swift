import SwitchyardServices

/// The listening socket of a server, which can be closed temporarily.
struct Listener {
    /// The maximum number of connections in the accept queue; the system has a limit of its own.
    static let backlog: Int32 = 4096

    let port: UInt16
    /// The descriptor, or -1 if no socket listens.
    private(set) var descriptor: Int32
    /// A bound socket that keeps the system from assigning the port to another socket while the server does not listen.
    private var placeholder: Int32?
    private(set) var mode = ListenerMode.listening
    /// The server's own connections that fill the accept queue while packets are lost, by local port.
    private var fillers: [UInt16: Int32] = [:]
    /// A timer that wakes the event loop when a fault switches on or off, or when the port must be tried again.
    var timer: TimerQueue.Token?

    /// Opens a port; if 0, the system chooses one.
    init(port: UInt16) throws(LoopbackError) {
        (descriptor, self.port) = try Socket.listen(port: port, backlog: Self.backlog)
    }

    func watch(on poller: inout Poller) {
        if descriptor >= 0 { poller.watch(descriptor, for: .read) }
    }

    /// Closes the listening socket and releases the port.
    mutating func close(on poller: inout Poller) {
        mode = .closed
        removeFillers()
        if let placeholder { Socket.close(placeholder) }
        placeholder = nil
        guard descriptor >= 0 else { return }
        poller.forget(descriptor)
        Socket.stopListening(descriptor)
        Socket.close(descriptor)
        descriptor = -1
    }

    /// Stops listening and, on Linux, keeps the system from assigning the port to a socket that asks for any free port.
    ///
    /// On Linux, a socket that is bound and does not listen refuses connections, and another socket can still bind the
    /// port by its number.
    mutating func refuse(on poller: inout Poller) {
        close(on: &poller)
        #if os(Linux)
            placeholder = Socket.reserve(port: port)
        #endif
    }

    /// Starts to listen again on the same port; returns `false` if another socket has the port.
    mutating func open(on poller: inout Poller) -> Bool {
        if let placeholder {
            guard Socket.setBacklog(placeholder, Self.backlog) == 0 else { return false }
            descriptor = placeholder
            self.placeholder = nil
        } else if descriptor < 0 {
            guard let opened = try? Socket.listen(port: port, backlog: Self.backlog) else { return false }
            descriptor = opened.descriptor
        } else if mode == .silent {
            Socket.setBacklog(descriptor, Self.backlog)
        }
        mode = .listening
        watch(on: &poller)
        return true
    }

    /// Makes the system drop every further SYN by shortening the accept queue, filling it and accepting no connection.
    mutating func silence(on poller: inout Poller) {
        guard mode != .silent, descriptor >= 0 else { return }
        mode = .silent
        poller.forget(descriptor)
        Socket.setBacklog(descriptor, Self.shortestBacklog)
        for _ in 0..<Self.fillerCount {
            guard let filler = Socket.connect(port: port) else { continue }
            fillers[Socket.localPort(of: filler)] = filler
        }
    }

    /// Returns whether a connection is one of the server's own that fill the accept queue.
    func isFiller(peerPort: UInt16) -> Bool {
        fillers[peerPort] != nil
    }

    mutating func removeFillers() {
        for filler in fillers.values { Socket.close(filler) }
        fillers = [:]
    }

    #if os(Linux)
        /// On Linux, a queue of length n holds n + 1 connections.
        private static let shortestBacklog: Int32 = 0
        private static let fillerCount = 2
    #else
        /// Darwin treats 0 as its default length, and holds half more than the length.
        private static let shortestBacklog: Int32 = 1
        private static let fillerCount = 4
    #endif
}

// MARK: - Event loop

extension EventLoop {
    /// Accepts all connections in the accept queue.
    func acceptConnections() {
        while true {
            switch Socket.accept(on: listener.descriptor) {
            case .connection(let descriptor, let peerPort):
                if listener.isFiller(peerPort: peerPort) { Socket.close(descriptor) } else { add(descriptor) }
            case .none: return
            case .outOfDescriptors: return pauseAccepting()
            }
        }
    }

    /// Updates the listening socket and the held requests to match the faults.
    func applyFaults() {
        let (mode, change) = board.listenerMode(at: now)
        if let timer = listener.timer { timers.cancel(timer) }
        listener.timer = nil
        var wakeUp = change
        if mode != listener.mode, !apply(mode) {
            let retry = now.advanced(by: .milliseconds(10))
            wakeUp = min(wakeUp ?? retry, retry)
        }
        forEachConnection { $0.reconsiderHold() }
        reconsiderLateExecutions()
        if let wakeUp {
            listener.timer = timers.add(at: wakeUp) { [unowned self] in applyFaults() }
        }
    }

    private func apply(_ mode: ListenerMode) -> Bool {
        switch mode {
        case .closed:
            listener.refuse(on: &poller)
            closeConnections()
            return true
        case .silent:
            guard listener.open(on: &poller) else { return false }
            // Connections that already wait are accepted, so that the queue is empty before it is filled.
            acceptConnections()
            listener.silence(on: &poller)
            forEachConnection { $0.updateInterest() }
            return true
        case .listening:
            let wasSilent = isSilent
            guard listener.open(on: &poller) else { return false }
            if wasSilent {
                acceptConnections()
                listener.removeFillers()
                forEachConnection { $0.flush() }
            }
            return true
        }
    }

    /// Pauses accepting for 10 ms because the process has no free descriptor.
    private func pauseAccepting() {
        poller.forget(listener.descriptor)
        _ = after(.milliseconds(10)) { [unowned self] in
            guard listener.mode == .listening else { return }
            listener.watch(on: &poller)
        }
    }
}
