import Testing

@testable import yard

@Suite struct TextTableTests {
    @Test func `the columns of a text table are as wide as their widest cell`() {
        var table = TextTable(["server": .left, "requests": .right])
        table.add(["secondary", "7"])
        table.add(["a", "1,200"])

        #expect(table.lines == ["server     requests", "secondary         7", "a             1,200"])
    }

    @Test func `a column of a text table keeps its minimum width`() {
        var table = TextTable(["p50": .right(7), "": .left])
        table.add(["1 ms", "x"])

        #expect(table.lines == ["    p50", "   1 ms  x"])
    }

    @Test(arguments: [
        (0, "░░░░   0 %"), (0.5, "██░░  50 %"), (0.999, "███░  99 %"), (1, "████ 100 %"), (7, "████ 100 %"),
        (-1, "░░░░   0 %"), (Double.nan, "░░░░   0 %"),
    ])
    func `a progress bar is drawn full only when the work is complete`(share: Double, text: String) {
        #expect(ProgressBar(width: 4).text(share) == text)
    }
}
