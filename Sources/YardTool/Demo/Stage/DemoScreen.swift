import Foundation

/// The output of the demo: headings and facts that stay, and below them lines that are redrawn.
final class DemoScreen: Sendable {
    private let terminal: Terminal
    private let region: LiveRegion

    init(_ terminal: Terminal) {
        self.terminal = terminal
        region = LiveRegion(terminal)
    }

    /// Whether lines can be redrawn.
    var isLive: Bool { terminal.isInteractive }

    /// Returns the text in a style if the output supports styles.
    func styled(_ text: String, _ style: Style) -> String {
        terminal.isColoured ? text.styled(style) : text
    }

    /// Prints the heading of a step.
    func begin(_ number: Int, _ title: String) {
        region.print(["", styled("\(number)  \(title)", .bold)])
    }

    /// Prints a message.
    ///
    /// A line that is longer than the screen is wrapped between words.
    func say(_ text: String, _ style: Style = .plain) {
        region.print(wrapped("   \(text)").map { styled($0, style) })
    }

    private func wrapped(_ text: String) -> [String] {
        terminal.isInteractive ? text.wrapped(to: terminal.size().columns, indent: 5) : [text]
    }

    /// Prints a statement that turned out to be true.
    func came(true text: String) {
        region.print(wrapped(" ✓ \(text)").map { $0.replacing("✓", with: styled("✓", .green)) })
    }

    /// Prints the error of a step whose statement turned out to be false.
    func broke(_ text: String) {
        region.print(wrapped(" ✗ \(text)").map { $0.replacing("✗", with: styled("✗", .red)) })
    }

    /// Shows these lines below the headings and facts, in place of the previous lines.
    ///
    /// Does nothing if lines cannot be redrawn.
    func show(_ lines: [String]) {
        region.show(lines)
    }

    /// Removes the lines that ``show(_:)`` has drawn.
    func clear() {
        region.clear()
    }

    /// Prints lines that stay on the screen.
    func print(_ lines: [String]) {
        region.print(lines)
    }
}
