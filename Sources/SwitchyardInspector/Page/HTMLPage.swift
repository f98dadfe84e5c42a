import Foundation

/// One file of HTML that needs no other, put together from a frame, styles, scripts and data.
package struct HTMLPage: Sendable {
    /// The HTML, with lines that say where the rest goes.
    private let frame: [UInt8]
    private let styles: [[UInt8]]
    /// The files of script, in the order in which they stand in the page.
    package let scripts: [[UInt8]]

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - frame: The HTML; the lines `<!-- style -->`, `<!-- data -->` and `<!-- script -->` are replaced.
    ///   - styles: The files of style, in their order, behind those that all pages have.
    ///   - scripts: The files of script, likewise.
    package init(frame: [UInt8], styles: [[UInt8]], scripts: [[UInt8]]) {
        self.frame = frame
        self.styles = [PackageResources.shared_css] + styles
        self.scripts = [PackageResources.parts_js, PackageResources.shapes_js] + scripts
    }

    /// The page without data.
    package var html: String { html(data: "") }

    /// The page with data in it.
    ///
    /// - Parameters:
    ///   - json: The data. Without `<`, as it stands in the page, no text in it can end the element.
    ///   - identifier: That of the element which holds it.
    /// - Returns: The HTML.
    package func html(holding json: String, as identifier: String) -> String {
        let escaped = json.replacingOccurrences(of: "<", with: #"\u003c"#)
        return html(data: #"<script type="application/json" id="\#(identifier)">\#(escaped)</script>"#)
    }

    private func html(data: String) -> String {
        let parts = [
            "<!-- style -->": "<style>\n\(Self.text(styles))</style>",
            "<!-- data -->": data,
            "<!-- script -->": "<script>\n\(Self.text(scripts))</script>",
        ]
        // Line by line, so that what was put in is not looked at again.
        let lines = Self.text([frame]).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { parts[$0.trimmingCharacters(in: .whitespaces)] ?? String($0) }.joined(separator: "\n")
    }

    private static func text(_ files: [[UInt8]]) -> String {
        files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}
