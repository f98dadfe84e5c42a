package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A command in its own process.
///
/// `Process` of swift-corelibs-foundation reads past the end of the list of open descriptors when that list fills a
/// page of the kernel's (some 1,300 descriptors), which concurrent tests can reach.
package final class ChildCommand {
    private static let spawning = NSLock()

    private let identifier: pid_t
    private var status: Int32?
    /// The standard output of the command.
    package let output: FileHandle

    package struct Failure: Error {
        package let command: [String]
        package let status: Int32
    }

    /// Starts a command found on the path.
    ///
    /// Its standard error is discarded.
    ///
    /// - Parameters:
    ///   - command: The command and its arguments.
    ///   - input: The descriptor of its standard input, which the caller keeps. Without one, the input is empty.
    /// - Throws: ``Failure`` if it cannot be started.
    package init(_ command: [String], input: Int32? = nil) throws {
        var ends: [Int32] = [0, 0]
        // One command at a time from the pipe to the start, because a child that inherits another's pipe would keep it
        // open.
        Self.spawning.lock()
        defer { Self.spawning.unlock() }
        guard pipe(&ends) == 0 else { throw Failure(command: command, status: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = ChildCommand.emptyActions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let result = posix_spawnp(&child, command[0], &actions, nil, &arguments, environ)
        close(ends[1])
        output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        identifier = child
        guard result == 0 else {
            status = result
            throw Failure(command: command, status: result)
        }
    }

    deinit { kill() }

    /// Ends the command immediately.
    package func kill() {
        guard status == nil else { return }
        // Not SIGTERM, because a child of a pool thread inherits a signal mask that blocks it.
        #if canImport(Glibc)
            _ = Glibc.kill(identifier, SIGKILL)
        #elseif canImport(Musl)
            _ = Musl.kill(identifier, SIGKILL)
        #else
            _ = Darwin.kill(identifier, SIGKILL)
        #endif
        wait()
    }

    /// Waits for the end of the command.
    ///
    /// - Returns: The status of `waitpid`, which is 0 for success.
    @discardableResult
    package func wait() -> Int32 {
        if let status { return status }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        self.status = status
        return status
    }

    /// Runs a command to its end and returns what it wrote.
    @discardableResult
    package static func run(_ command: [String]) throws -> Data {
        let child = try ChildCommand(command)
        let written = child.output.readDataToEndOfFile()
        guard child.wait() == 0 else { throw Failure(command: command, status: child.wait()) }
        return written
    }

    #if canImport(Darwin)
        private static func emptyActions() -> posix_spawn_file_actions_t? { nil }
    #else
        private static func emptyActions() -> posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    #endif
}
