import Switchyard
import SwitchyardStreams

/// A group of lines at the bottom of a screen that is redrawn in place.
///
/// The lines above it stay.
///
/// To avoid flicker, every change is a single write: the cursor moves up to the first line of the region, each line is
/// overwritten and its rest erased, and everything below is erased. The cursor is hidden while the region is shown. If
/// the output is not a screen, the region is not written.
final class LiveRegion: Sendable {
    private struct State {
        var lines: [String] = []
        var height = 0
    }

    private let terminal: Terminal
    /// The state of the screen.
    ///
    /// Its lock is held during a write, so that the writes of two threads do not mix. A write calls no code that could
    /// need the lock.
    private let state = Locked(State())

    init(_ terminal: Terminal) {
        self.terminal = terminal
    }

    /// Prints lines that stay, above the region.
    func print(_ lines: [String]) {
        state.withLock { state in
            guard terminal.isInteractive else { return terminal.write(lines.map { $0 + "\n" }.joined()) }
            draw(lines, region: state.lines, in: &state)
        }
    }

    /// Replaces the lines of the region.
    func show(_ lines: [String]) {
        guard terminal.isInteractive else { return }
        state.withLock { draw([], region: lines, in: &$0) }
    }

    /// Removes the region.
    func clear() {
        show([])
    }

    private func draw(_ above: [String], region: [String], in state: inout State) {
        let size = terminal.size()
        // The last row stays free, because a line end there would scroll the screen. The last column stays free,
        // because the command that erases the rest of the line would erase a character there.
        let visible = region.prefix(max(0, size.rows - 1)).map { $0.clipped(to: size.columns - 1) }
        var frame = Escape.beginFrame
        if state.height == 0, !visible.isEmpty { frame += Escape.hideCursor }
        if state.height > 0 { frame += Escape.up(state.height) }
        for line in above + visible { frame += line + Escape.eraseRestOfLine + "\n" }
        frame += Escape.eraseBelow
        if state.height > 0, visible.isEmpty { frame += Escape.showCursor }
        frame += Escape.endFrame
        terminal.write(frame)
        state.lines = region
        state.height = visible.count
    }
}

/// The control sequences for drawing the region.
///
/// They are defined in ECMA-48, except for hiding the cursor and the synchronized update. Hiding the cursor and the
/// synchronized update are private modes, which a terminal ignores if it does not support them.
enum Escape {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"
    static let beginFrame = "\u{1B}[?2026h"
    static let endFrame = "\u{1B}[?2026l"
    static let eraseRestOfLine = "\u{1B}[K"
    static let eraseBelow = "\u{1B}[J"

    /// Returns the sequence that moves the cursor up by a number of rows, to the start of the line.
    static func up(_ rows: Int) -> String { "\u{1B}[\(rows)F" }
}
