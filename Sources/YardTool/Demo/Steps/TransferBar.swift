import Switchyard

/// The progress of a transfer, shown as a bar, or as one line for each quarter if lines cannot be redrawn.
final class TransferBar: Sendable {
    private let screen: DemoScreen
    private let fileSize: Int
    /// The last quarter that was printed.
    private let quarter = Locked(0)

    init(screen: DemoScreen, fileSize: Int) {
        self.screen = screen
        self.fileSize = fileSize
    }

    /// Shows a share from 0 to 1.
    func show(_ share: Double) {
        let isNewQuarter = quarter.withLock { last in
            let quarter = Int(share * 4)
            defer { last = max(quarter, last) }
            return quarter > last
        }
        let line = "\(ProgressBar().text(share))  of \(fileSize.byteFigure)"
        if screen.isLive {
            screen.show(["   \(line)"])
        } else if isNewQuarter {
            screen.say(line)
        }
    }
}
