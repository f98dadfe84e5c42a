/// A bar that fills from left to right.
struct ProgressBar {
    /// The width of the bar in columns.
    var width = 32

    /// Returns the bar and, in percent, the share of the work that is done.
    ///
    /// A share outside 0...1 is clamped.
    func text(_ share: Double) -> String {
        let share = min(1, max(0, share.isNaN ? 0 : share))
        let full = Int((share * Double(width)).rounded(.down))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
        let percent = "\(Int((share * 100).rounded(.down))) %"
        return "\(bar) \(percent.padded(to: 5, onLeft: true))"
    }
}
