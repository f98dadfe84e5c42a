import Switchyard
import SwitchyardStreams

/// Lines at the bottom of a screen that are redrawn in place, below lines that stay.
///
/// Every change is one write: the cursor goes up to the first line of the region, each line is overwritten and its rest
/// erased, and what was below goes. So nothing flickers. The cursor is hidden while there is a region. On anything but
/// a screen the lines that stay are written as they come, and the region is left out.
final class LiveRegion: Sendable {
    private struct State {
        var lines: [String] = []
        var height = 0
    }

    private let terminal: Terminal
    /// Held during a write, which calls nobody back, so that two frames cannot mix.
    private let state = Locked(State())

    init(_ terminal: Terminal) {
        self.terminal = terminal
    }

    /// Writes lines that stay, above the region.
    func print(_ lines: [String]) {
        state.withLock { state in
            guard terminal.isInteractive else { return terminal.write(lines.map { $0 + "\n" }.joined()) }
            draw(lines, region: state.lines, in: &state)
        }
    }

    /// Puts lines in the place of the region's.
    func show(_ lines: [String]) {
        guard terminal.isInteractive else { return }
        state.withLock { draw([], region: lines, in: &$0) }
    }

    /// Takes the region away.
    func clear() {
        show([])
    }

    private func draw(_ above: [String], region: [String], in state: inout State) {
        let size = terminal.size()
        // The last row stays free, where a line's end would scroll the screen, and so does the last column: what is
        // erased behind a character there would be that character.
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
/// They are those of ECMA-48; hiding the cursor and the synchronised update are private modes, which a terminal that does
/// not know them ignores.
enum Escape {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"
    static let beginFrame = "\u{1B}[?2026h"
    static let endFrame = "\u{1B}[?2026l"
    static let eraseRestOfLine = "\u{1B}[K"
    static let eraseBelow = "\u{1B}[J"

    /// To the beginning of the line so many rows above.
    static func up(_ rows: Int) -> String { "\u{1B}[\(rows)F" }
}
