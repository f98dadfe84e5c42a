import SwitchyardServices

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A queue of commands from other threads to the event loop, with a pipe that wakes the loop.
final class Mailbox: Sendable {
    private struct State {
        var commands: [LoopCommand] = []
        var isOpen = true
    }

    /// The read end of the pipe, whose bytes wake the event loop.
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

    /// Adds a command.
    ///
    /// Returns `false` if the event loop has ended.
    ///
    /// The pipe is written while the lock is held, because its descriptors are closed while the same lock is held.
    func post(_ command: LoopCommand) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.commands.append(command)
            if state.commands.count == 1 { ring() }
            return true
        }
    }

    /// Removes and returns all commands, oldest first.
    func take() -> [LoopCommand] {
        state.withLock { state in
            guard !state.commands.isEmpty else { return [] }
            silence()
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    /// Closes the mailbox, and returns the commands that were not executed.
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
        // The write can fail only if the pipe is full. The bytes in the pipe then wake the event loop anyway.
        _ = write(ringDescriptor, &byte, 1)
    }

    private func silence() {
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = withUnsafeMutableBytes(of: &bytes) { read(wakeDescriptor, $0.baseAddress, $0.count) }
    }
}

/// Closes a file descriptor.
///
/// The function is outside `Mailbox` because `close` refers to a method inside that class.
private func closeDescriptor(_ descriptor: Int32) {
    _ = close(descriptor)
}
