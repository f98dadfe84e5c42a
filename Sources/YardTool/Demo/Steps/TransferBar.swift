import Switchyard

/// Shows the progress of a transfer as a bar.
///
/// If lines cannot be redrawn, prints one line for each quarter instead.
final class TransferBar: Sendable {
    private let screen: DemoScreen
    private let fileSize: Int
    /// The last quarter that was printed.
    private let quarter = Locked(0)

    init(screen: DemoScreen, fileSize: Int) {
        self.screen = screen
        self.fileSize = fileSize
    }

    /// Shows the completed share of the transfer, from 0 to 1.
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
