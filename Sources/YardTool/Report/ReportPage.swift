import SwitchyardInspector

/// The page that shows a report, from the files in `Page` and from the report as JSON.
struct ReportPage {
    let page: HTMLPage

    /// Reads the files.
    init() throws {
        page = try HTMLPage(
            frame: "report.html",
            styles: ["report.css"],
            scripts: ["marks.js", "plot.js", "calls.js", "bands.js", "series.js", "tables.js", "report.js"],
            of: "yard",
            besides: #filePath
        )
    }

    /// The whole page.
    func html(for report: Report) throws -> String { page.html(holding: try report.json(), as: "report") }
}
