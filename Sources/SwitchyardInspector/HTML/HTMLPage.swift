import Foundation
import SwitchyardHTTP

/// A self-contained HTML file, made from a template into which styles, scripts and data are inserted.
package struct HTMLPage: Sendable {
    /// The template: HTML text with placeholder lines for styles, data and scripts.
    private let frame: String
    private let styles: [String]
    /// The scripts, in the order in which they appear on the page.
    package let scripts: [String]

    /// Creates a page from files.
    ///
    /// - Parameters:
    ///   - frame: The name of the template file. The styles, the data and the scripts replace its lines
    ///     `<!-- style -->`, `<!-- data -->` and `<!-- script -->`.
    ///   - styles: The names of the style files, in order. They are inserted after the styles that all pages share.
    ///   - scripts: The names of the script files, in order. They are inserted after the scripts that all pages share.
    ///   - module: The module whose resources contain the files.
    ///   - source: The path of a source file that is next to the module's folder `Page`.
    /// - Throws: ``PageFolder/Missing``, or the system's error if a file cannot be read.
    package init(frame: String, styles: [String], scripts: [String], of module: String, besides source: String) throws {
        let shared = try PageFolder(of: "SwitchyardInspector", besides: #filePath)
        let own = try PageFolder(of: module, besides: source)
        self.styles = try [shared.text("shared.css")] + styles.map { try own.text($0) }
        self.scripts = try [shared.text("parts.js"), shared.text("shapes.js")] + scripts.map { try own.text($0) }
        // The policy of the page allows only this script, so no other script runs even if text from the data becomes
        // markup by mistake.
        let hash = MessageDigest.sha256(Data(Self.content(of: self.scripts).utf8)).base64EncodedString()
        self.frame = try own.text(frame)
            .replacingOccurrences(of: "script-src 'unsafe-inline'", with: "script-src 'sha256-\(hash)'")
    }

    /// The HTML of the page without data.
    package var html: String { html(data: "", text: "") }

    /// Returns the page with data embedded.
    ///
    /// - Parameters:
    ///   - json: The data. Each `<` in it is escaped, so that no text in the data can end the HTML element.
    ///   - identifier: The `id` of the HTML element that contains the data.
    ///   - text: The HTML that can be read without scripts. It replaces the line `<!-- text -->`.
    /// - Returns: The HTML.
    package func html(holding json: String, as identifier: String, text: String = "") -> String {
        let escaped = json.replacingOccurrences(of: "<", with: #"\u003c"#)
        return html(data: #"<script type="application/json" id="\#(identifier)">\#(escaped)</script>"#, text: text)
    }

    /// Returns the content of the script element.
    private static func content(of scripts: [String]) -> String { "\n" + scripts.joined(separator: "\n") }

    private func html(data: String, text: String) -> String {
        let parts = [
            "<!-- text -->": text,
            "<!-- style -->": "<style>\n\(styles.joined(separator: "\n"))</style>",
            "<!-- data -->": data,
            "<!-- script -->": "<script>\(Self.content(of: scripts))</script>",
        ]
        // Placeholders are replaced line by line, so a placeholder inside inserted text is not replaced.
        let lines = frame.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { parts[$0.trimmingCharacters(in: .whitespaces)] ?? String($0) }.joined(separator: "\n")
    }
}
