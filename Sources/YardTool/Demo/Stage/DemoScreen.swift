import Foundation

/// Tells the story: headings and facts that stay, and below them what is going on.
final class DemoScreen: Sendable {
    private let terminal: Terminal
    private let region: LiveRegion

    init(_ terminal: Terminal) {
        self.terminal = terminal
        region = LiveRegion(terminal)
    }

    /// Whether lines can be redrawn.
    var isLive: Bool { terminal.isInteractive }

    /// The text in a style, where there are any.
    func styled(_ text: String, _ style: Style) -> String {
        terminal.isColoured ? text.styled(style) : text
    }

    /// Begins a step.
    func begin(_ number: Int, _ title: String) {
        region.print(["", styled("\(number)  \(title)", .bold)])
    }

    /// Tells something.
    func say(_ text: String) {
        region.print(["   \(text)"])
    }

    /// Tells that something came true.
    func came(true text: String) {
        region.print([" \(styled("✓", .green)) \(text)"])
    }

    /// Tells that something did not come true.
    func broke(_ text: String) {
        region.print([" \(styled("✗", .red)) \(text)"])
    }

    /// Shows lines that will be redrawn; where that is not possible they are left out.
    func show(_ lines: [String]) {
        region.show(lines)
    }

    /// Takes the lines that are redrawn away.
    func clear() {
        region.clear()
    }

    /// Writes lines that stay, as they are.
    func print(_ lines: [String]) {
        region.print(lines)
    }
}
