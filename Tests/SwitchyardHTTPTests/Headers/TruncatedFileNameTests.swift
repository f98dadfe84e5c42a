import Testing

@testable import SwitchyardHTTP

/// The name of a download: trailing dots and spaces are removed, even after truncation.
@Suite struct TruncatedFileNameTests {
    @Test(arguments: [" ", ".", ". .", "\u{3000}"])
    func `a truncated file name ends with neither a dot nor a space`(_ end: String) {
        let name = String(repeating: "a", count: 196) + end + String(repeating: "b", count: 20)

        for name in [name, "\(name).\(String(repeating: "c", count: 40))"] {
            let safe = SuggestedFileName.safe(name)

            #expect(safe.utf8.count <= 200)
            #expect(safe.unicodeScalars.last.map { $0 != "." && !$0.properties.isWhitespace } == true)
        }
    }
}
