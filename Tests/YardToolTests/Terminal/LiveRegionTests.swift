import Testing

@testable import yard

@Suite struct LiveRegionTests {
    @Test func `a line of a live terminal region is overwritten in one write`() {
        let recording = RecordingTerminal(isInteractive: true)
        let region = LiveRegion(recording.terminal)

        region.show(["one", "two"])
        region.show(["three"])

        let first = Escape.beginFrame + Escape.hideCursor + "one\u{1B}[K\ntwo\u{1B}[K\n\u{1B}[J" + Escape.endFrame
        let second = Escape.beginFrame + Escape.up(2) + "three\u{1B}[K\n\u{1B}[J" + Escape.endFrame
        #expect(recording.frames == [first, second])
    }

    @Test func `a permanent line is printed above the live region`() {
        let recording = RecordingTerminal(isInteractive: true)
        let region = LiveRegion(recording.terminal)

        region.show(["table"])
        region.print(["event"])

        let frame = Escape.beginFrame + Escape.up(1) + "event\u{1B}[K\ntable\u{1B}[K\n\u{1B}[J" + Escape.endFrame
        #expect(recording.frames.last == frame)
    }

    @Test func `the cursor is shown again when the live region is cleared`() {
        let recording = RecordingTerminal(isInteractive: true)
        let region = LiveRegion(recording.terminal)

        region.show(["table"])
        region.clear()
        region.clear()

        #expect(recording.text.components(of: Escape.hideCursor) == 1)
        #expect(recording.text.components(of: Escape.showCursor) == 1)
        #expect(recording.frames.last?.contains(Escape.up(1)) == false)
    }

    @Test func `the lines of a live terminal region are truncated to the width of the screen`() {
        let recording = RecordingTerminal(isInteractive: true, columns: 4, rows: 3)
        let region = LiveRegion(recording.terminal)

        region.show(["abcdef", "b", "c", "d"])

        #expect(recording.text.contains("abc\u{1B}[K\nb\u{1B}[K\n\u{1B}[J"))
    }

    @Test func `only the permanent lines of a live region are written to a file`() {
        let recording = RecordingTerminal(isInteractive: false)
        let region = LiveRegion(recording.terminal)

        region.print(["one"])
        region.show(["table"])
        region.print(["two", "three"])
        region.clear()

        #expect(recording.text == "one\ntwo\nthree\n")
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
