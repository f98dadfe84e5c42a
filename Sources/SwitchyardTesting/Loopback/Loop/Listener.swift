import SwitchyardServices

/// The listening socket of a server, which a fault can close temporarily.
struct Listener {
    /// The requested maximum number of connections in the accept queue.
    ///
    /// The system may use a smaller limit.
    static let backlog: Int32 = 4096

    let port: UInt16
    /// The file descriptor of the listening socket, or -1 if the server does not listen.
    private(set) var descriptor: Int32
    /// A bound socket that keeps the system from assigning the port to another program while the server does not
    /// listen.
    private var placeholder: Int32?
    private(set) var mode = ListenerMode.listening
    /// The server's own connections that fill the accept queue while packets are lost, by local port.
    private var fillers: [UInt16: Int32] = [:]
    /// A timer that wakes the event loop when a fault is switched on or off, or when the server must try the port
    /// again.
    var timer: TimerQueue.Token?

    /// Opens a port.
    ///
    /// If the port is 0, the system chooses a free port.
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

    /// Stops listening, so that connections are refused.
    ///
    /// On Linux, the port stays bound. A bound socket that does not listen refuses connections, and the system does not
    /// assign its port to a socket that requests any free port. Another socket can still bind the port by its number.
    mutating func refuse(on poller: inout Poller) {
        close(on: &poller)
        #if os(Linux)
            placeholder = Socket.reserve(port: port)
        #endif
    }

    /// Starts to listen again on the same port, or returns `false` if another socket has the port.
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

    /// Makes the system drop every further SYN packet: shortens the accept queue, fills it, and accepts no connection.
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

    /// Returns whether a connection is one of the server's own connections that fill the accept queue.
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
        /// The shortest accept queue that can be requested, because Darwin replaces 0 by its default length.
        ///
        /// A queue of length n holds 1.5 n connections.
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

    /// Updates the listening socket and the held requests to match the faults that are set.
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
            // The connections in the accept queue are accepted first, so that the queue is empty before the server
            // fills it.
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

    /// Stops accepting connections for 10 ms, because the process has no free file descriptor.
    private func pauseAccepting() {
        poller.forget(listener.descriptor)
        _ = after(.milliseconds(10)) { [unowned self] in
            guard listener.mode == .listening else { return }
            listener.watch(on: &poller)
        }
    }
}
