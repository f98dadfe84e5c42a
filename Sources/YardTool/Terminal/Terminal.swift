import Foundation
import Switchyard

/// The output of the tool: a screen on which lines can be redrawn, or a file.
struct Terminal: Sendable {
    /// Whether the output is a screen, on which lines can be redrawn and colored.
    let isInteractive: Bool
    /// A function that returns the present size of the screen.
    let size: @Sendable () -> (columns: Int, rows: Int)
    /// A function that writes a text in one operation.
    let write: @Sendable (String) -> Void

    /// The standard output.
    static let standardOutput = Terminal(
        isInteractive: isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb",
        size: Terminal.sizeOfStandardOutput,
        write: Terminal.writeToStandardOutput
    )

    /// A terminal that shows nothing.
    static let silent = Terminal(isInteractive: false, size: { (80, 24) }, write: { _ in })

    /// Whether colors are enabled.
    ///
    /// The environment variable `NO_COLOR` disables them (no-color.org).
    var isColoured: Bool { isInteractive && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty }

    @Sendable private static func sizeOfStandardOutput() -> (columns: Int, rows: Int) {
        var window = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(window.ws_col), Int(window.ws_row))
    }

    private static let hasReader = Locked(true)

    /// Writes all bytes.
    ///
    /// If the program that reads the output has ended, sends SIGTERM to this process once.
    @Sendable private static func writeToStandardOutput(_ text: String) {
        guard !write(text, to: STDOUT_FILENO) else { return }
        let isNews = hasReader.withLock { hasReader in
            defer { hasReader = false }
            return hasReader
        }
        if isNews { kill(getpid(), SIGTERM) }
    }

    /// Writes a line to standard error, and ignores a failure of the write.
    static func complain(_ line: String) {
        _ = write(line + "\n", to: STDERR_FILENO)
    }

    /// Writes all bytes to a file descriptor.
    ///
    /// If the file does not accept bytes at the moment, such as a full non-blocking pipe, waits until it does.
    ///
    /// Foundation's file handles would end the process if the write fails.
    ///
    /// - Returns: `false` if the write fails.
    static func write(_ text: String, to file: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var descriptor = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                _ = poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
