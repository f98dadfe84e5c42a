import Testing

@testable import yard

@Suite struct StyleTests {
    @Test func `the escape codes of a terminal style take no columns`() {
        #expect("dead".styled(.red).columns == 4)
        #expect("dead".styled(.plain) == "dead")
    }

    @Test func `an ideograph takes two columns of a terminal`() {
        #expect("中文".columns == 4)
        #expect("用户a".columns == 5)
    }

    @Test func `padding in a terminal counts columns instead of characters`() {
        #expect("中文".padded(to: 6) == "中文  ")
        #expect("ab".styled(.bold).padded(to: 4, onLeft: true) == "  " + "ab".styled(.bold))
        #expect("too long".padded(to: 3) == "too long")
    }

    @Test func `clipping a styled terminal text keeps the code that ends its style`() {
        #expect("healthy".styled(.green).clipped(to: 3) == "\u{1B}[32mhea\u{1B}[0m")
        #expect("plain".clipped(to: 3) == "pla")
        #expect("plain".clipped(to: 5) == "plain")
    }

    @Test func `an ideograph that does not fit into the columns is left out completely`() {
        #expect("中文".clipped(to: 3) == "中")
    }

    @Test func `numbers in the output of yard are formatted for readers`() {
        #expect(Duration.microseconds(420).figure == "0.42 ms")
        #expect(Duration.milliseconds(38).figure == "38 ms")
        #expect(Duration.milliseconds(1_500).figure == "1.5 s")
        #expect(1_234_567.figure == "1,234,567")
        #expect((-1_000).figure == "-1,000")
        #expect(999.figure == "999")
        #expect(512.byteFigure == "512 B")
        #expect(8_388_608.byteFigure == "8.0 MiB")
    }
}
