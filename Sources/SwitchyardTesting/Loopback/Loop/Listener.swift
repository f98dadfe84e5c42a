import SwitchyardServices

/// The socket that listens, or its absence.
struct Listener {
    /// Connections that may wait to be accepted; the system has a limit of its own.
    static let backlog: Int32 = 4096

    let port: UInt16
    /// -1 while nothing listens.
    private(set) var descriptor: Int32
    /// Keeps the system from choosing the port for somebody else while nothing listens.
    private var placeholder: Int32?
    private(set) var mode = ListenerMode.listening
    /// Our own connections that fill the queue while packets are lost, by their local port.
    private var fillers: [UInt16: Int32] = [:]
    /// Wakes the loop when a fault comes or goes by itself, or the port is to be tried again.
    var timer: TimerQueue.Token?

    /// Takes a port; 0 lets the system choose.
    init(port: UInt16) throws(LoopbackError) {
        (descriptor, self.port) = try Socket.listen(port: port, backlog: Self.backlog)
    }

    func watch(on poller: inout Poller) {
        if descriptor >= 0 { poller.watch(descriptor, for: .read) }
    }

    /// Gives the port up.
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

    /// Listens no longer, and keeps the port from sockets that take any: on Linux, where one that is bound and does not
    /// listen refuses connections and leaves the port to whoever names it.
    mutating func refuse(on poller: inout Poller) {
        close(on: &poller)
        #if os(Linux)
            placeholder = Socket.reserve(port: port)
        #endif
    }

    /// Listens, again on the same port if nothing did; `false` when another socket has it.
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

    /// Lets every further SYN be dropped: shortens the queue of waiting connections, fills it and accepts none.
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

    /// Whether a connection is one of ours, made to fill the queue.
    func isFiller(peerPort: UInt16) -> Bool {
        fillers[peerPort] != nil
    }

    mutating func removeFillers() {
        for filler in fillers.values { Socket.close(filler) }
        fillers = [:]
    }

    #if os(Linux)
        /// A queue of length n holds n + 1 connections.
        private static let shortestBacklog: Int32 = 0
        private static let fillerCount = 2
    #else
        /// Darwin takes 0 for its default, and holds half more than the length.
        private static let shortestBacklog: Int32 = 1
        private static let fillerCount = 4
    #endif
}

// MARK: - The loop's part

extension EventLoop {
    /// Accepts what waits.
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

    /// Brings the listening socket and the held requests in line with the faults.
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
            // Whoever waits already has got through; the queue is empty when it is filled.
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

    /// Leaves waiting connections alone for a moment when the process has no descriptor left.
    private func pauseAccepting() {
        poller.forget(listener.descriptor)
        _ = after(.milliseconds(10)) { [unowned self] in
            guard listener.mode == .listening else { return }
            listener.watch(on: &poller)
        }
    }
}
