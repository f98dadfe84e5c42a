import Foundation

/// The output of the demo: permanent headings and facts, with a live region below.
final class DemoScreen: Sendable {
    private let terminal: Terminal
    private let region: LiveRegion

    init(_ terminal: Terminal) {
        self.terminal = terminal
        region = LiveRegion(terminal)
    }

    /// Whether lines can be redrawn.
    var isLive: Bool { terminal.isInteractive }

    /// Returns the text in a style if styles are supported.
    func styled(_ text: String, _ style: Style) -> String {
        terminal.isColoured ? text.styled(style) : text
    }

    /// Prints the heading of a step.
    func begin(_ number: Int, _ title: String) {
        region.print(["", styled("\(number)  \(title)", .bold)])
    }

    /// Prints a message.
    func say(_ text: String) {
        region.print(["   \(text)"])
    }

    /// Prints a claim that is true.
    func came(true text: String) {
        region.print([" \(styled("✓", .green)) \(text)"])
    }

    /// Prints a claim that is not true.
    func broke(_ text: String) {
        region.print([" \(styled("✗", .red)) \(text)"])
    }

    /// Shows lines in the live region, or nothing if lines cannot be redrawn.
    func show(_ lines: [String]) {
        region.show(lines)
    }

    /// Clears the live region.
    func clear() {
        region.clear()
    }

    /// Prints permanent lines unchanged.
    func print(_ lines: [String]) {
        region.print(lines)
    }
}
