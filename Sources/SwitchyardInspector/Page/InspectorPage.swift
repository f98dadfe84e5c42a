import Foundation

/// The page of the inspector: one file of HTML that needs no other.
///
/// It is put together from the files beside this one, which are part of the library.
package enum InspectorPage {
    /// The files of style, in the order in which they stand in the page.
    private static let styles: [[UInt8]] = []
    /// The files of script, likewise.
    private static let scripts: [[UInt8]] = []

    /// The whole page.
    ///
    /// - Parameter record: What it shows by itself; a page without asks the inspector that it came from.
    /// - Returns: The HTML.
    /// - Throws: `EncodingError`, for times that are no numbers.
    package static func html(showing record: InspectorRecord? = nil) throws -> String {
        let parts = [
            "<!-- style -->": "<style>\n\(text(styles))</style>",
            "<!-- data -->": try record.map { try element(of: $0) } ?? "",
            "<!-- script -->": "<script>\n\(text(scripts))</script>",
        ]
        // Line by line, so that what was put in is not looked at again.
        let lines = text([PackageResources.inspector_html]).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { parts[$0.trimmingCharacters(in: .whitespaces)] ?? String($0) }.joined(separator: "\n")
    }

    /// The record as JSON that can stand within a page: without `<`, no text in it can end the element that it stands in.
    private static func element(of record: InspectorRecord) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try encoder.encode(record), as: UTF8.self)
        let escaped = json.replacingOccurrences(of: "<", with: #"\u003c"#)
        return #"<script type="application/json" id="record">\#(escaped)</script>"#
    }

    private static func text(_ files: [[UInt8]]) -> String {
        files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}
