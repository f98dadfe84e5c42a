import Switchyard
import SwitchyardStreams

/// Lines at the bottom of a screen that are redrawn in place, below permanent lines.
///
/// To avoid flicker, every change is one write: the cursor moves up to the first line of the region, each line is
/// overwritten and its rest erased, and everything below is erased. The cursor is hidden while there is a region. If
/// the output is not a screen, permanent lines are written as they arrive, and the region is omitted.
final class LiveRegion: Sendable {
    private struct State {
        var lines: [String] = []
        var height = 0
    }

    private let terminal: Terminal
    /// The state, whose lock is held during a write so that two frames cannot mix; a write calls no other code.
    private let state = Locked(State())

    init(_ terminal: Terminal) {
        self.terminal = terminal
    }

    /// Prints permanent lines above the region.
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
        // The last row stays free because a line end there would scroll the screen. The last column stays free because
        // erasing after a character there would erase that character.
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

/// The control sequences of a frame.
///
/// They are defined in ECMA-48. Hiding the cursor and the synchronized update are private modes, which a terminal
/// ignores if it does not support them.
enum Escape {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"
    static let beginFrame = "\u{1B}[?2026h"
    static let endFrame = "\u{1B}[?2026l"
    static let eraseRestOfLine = "\u{1B}[K"
    static let eraseBelow = "\u{1B}[J"

    /// Returns the sequence that moves the cursor to the start of the line this number of rows above.
    static func up(_ rows: Int) -> String { "\u{1B}[\(rows)F" }
}
