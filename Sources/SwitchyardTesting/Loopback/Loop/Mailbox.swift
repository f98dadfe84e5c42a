import SwitchyardServices

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where other threads leave commands for the loop, with a pipe that wakes it.
final class Mailbox: Sendable {
    private struct State {
        var commands: [LoopCommand] = []
        var isOpen = true
    }

    /// The end of the pipe that the loop watches.
    let wakeDescriptor: Int32
    private let ringDescriptor: Int32
    private let state = Locked(State())

    init() throws(LoopbackError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(call: "pipe", code: errno) }
        wakeDescriptor = ends[0]
        ringDescriptor = ends[1]
        for end in ends {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close()
    }

    /// Leaves a command; `false` when the loop has ended.
    ///
    /// The pipe is written under the lock, since its descriptor is closed under it too.
    func post(_ command: LoopCommand) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.commands.append(command)
            if state.commands.count == 1 { ring() }
            return true
        }
    }

    /// Takes all commands, oldest first.
    func take() -> [LoopCommand] {
        state.withLock { state in
            guard !state.commands.isEmpty else { return [] }
            silence()
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    /// Refuses commands from now on, and returns those that nobody took.
    @discardableResult
    func close() -> [LoopCommand] {
        state.withLock { state in
            guard state.isOpen else { return [] }
            state.isOpen = false
            closeDescriptor(wakeDescriptor)
            closeDescriptor(ringDescriptor)
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    private func ring() {
        var byte: UInt8 = 1
        // A full pipe wakes the loop as well as one more byte would.
        _ = write(ringDescriptor, &byte, 1)
    }

    private func silence() {
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = withUnsafeMutableBytes(of: &bytes) { read(wakeDescriptor, $0.baseAddress, $0.count) }
    }
}

/// Closes a descriptor; a free function, since `close` names a method above.
private func closeDescriptor(_ descriptor: Int32) {
    _ = close(descriptor)
}
