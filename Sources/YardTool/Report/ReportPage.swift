import Foundation

/// The page that shows a report: one file of HTML that needs no other, and fetches nothing.
///
/// It is put together from the files in `Page`, which are part of the program, and from the report as JSON.
enum ReportPage {
    /// The files of style, in the order in which they stand in the page; the first ones know nothing of reports.
    static let styles = [PackageResources.shared_css, PackageResources.report_css]
    /// The files of script, likewise.
    static let scripts = [
        PackageResources.parts_js, PackageResources.marks_js, PackageResources.plot_js, PackageResources.calls_js,
        PackageResources.bands_js, PackageResources.series_js, PackageResources.tables_js, PackageResources.report_js,
    ]

    /// The whole page.
    static func html(for report: Report) throws -> String {
        let parts = [
            "<!-- style -->": "<style>\n\(text(styles))</style>",
            "<!-- data -->": #"<script type="application/json" id="report">\#(try data(of: report))</script>"#,
            "<!-- script -->": "<script>\n\(text(scripts))</script>",
        ]
        // Line by line, so that what was put in is not looked at again.
        let lines = text([PackageResources.report_html]).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { parts[$0.trimmingCharacters(in: .whitespaces)] ?? String($0) }.joined(separator: "\n")
    }

    /// The report as JSON that can stand within a page: without `<`, no text in it can end the element that it stands in.
    static func data(of report: Report) throws -> String {
        try report.json().replacingOccurrences(of: "<", with: #"\u003c"#)
    }

    private static func text(_ files: [[UInt8]]) -> String {
        files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}
