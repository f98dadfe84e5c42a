import Foundation

/// One file of HTML that needs no other, put together from a frame, styles, scripts and data.
package struct HTMLPage: Sendable {
    /// The HTML, with lines that say where the rest goes.
    private let frame: String
    private let styles: [String]
    /// The scripts, in the order in which they stand in the page.
    package let scripts: [String]

    /// Creates a page of files.
    ///
    /// - Parameters:
    ///   - frame: The name of the HTML file; its lines `<!-- style -->`, `<!-- data -->` and `<!-- script -->` are replaced.
    ///   - styles: The names of the files of style, in their order, behind those that all pages have.
    ///   - scripts: The names of the files of script, likewise.
    ///   - module: The module in whose resources they are.
    ///   - source: A source file beside their folder.
    /// - Throws: ``PageFolder/Missing``, or what the system says when a file cannot be read.
    package init(frame: String, styles: [String], scripts: [String], of module: String, besides source: String) throws {
        let shared = try PageFolder(of: "SwitchyardInspector", besides: #filePath)
        let own = try PageFolder(of: module, besides: source)
        self.frame = try own.text(frame)
        self.styles = try [shared.text("shared.css")] + styles.map { try own.text($0) }
        self.scripts = try [shared.text("parts.js"), shared.text("shapes.js")] + scripts.map { try own.text($0) }
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
            "<!-- style -->": "<style>\n\(styles.joined(separator: "\n"))</style>",
            "<!-- data -->": data,
            "<!-- script -->": "<script>\n\(scripts.joined(separator: "\n"))</script>",
        ]
        // Line by line, so that what was put in is not looked at again.
        let lines = frame.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { parts[$0.trimmingCharacters(in: .whitespaces)] ?? String($0) }.joined(separator: "\n")
    }
}
