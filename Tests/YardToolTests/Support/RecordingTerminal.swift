import Switchyard

@testable import yard

/// A terminal that records what is written.
final class RecordingTerminal: Sendable {
    private let writes = Locked<[String]>([])
    private let isInteractive: Bool
    private let columns: Int
    private let rows: Int

    init(isInteractive: Bool = false, columns: Int = 80, rows: Int = 24) {
        self.isInteractive = isInteractive
        self.columns = columns
        self.rows = rows
    }

    var terminal: Terminal {
        Terminal(
            isInteractive: isInteractive,
            size: { [columns, rows] in (columns, rows) },
            write: { [writes] text in writes.withLock { $0.append(text) } }
        )
    }

    /// The written text, one element for each write.
    var frames: [String] { writes.withLock { $0 } }

    /// All written text.
    var text: String { frames.joined() }
}
