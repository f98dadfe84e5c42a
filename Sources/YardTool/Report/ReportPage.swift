import SwitchyardInspector

/// The HTML page of a report.
///
/// It consists of the files in the folder `Page` and the report as JSON.
struct ReportPage {
    let page: HTMLPage

    /// Reads the files of the page.
    init() throws {
        page = try HTMLPage(
            frame: "report.html",
            styles: ["report.css"],
            scripts: [
                "marks.js", "plot.js", "calls.js", "series.js", "bands.js", "curve.js", "tables.js", "report.js",
            ],
            of: "yard",
            besides: #filePath
        )
    }

    /// Returns the complete page.
    func html(for report: Report) throws -> String {
        page.html(holding: try report.json(), as: "report", text: ReportText(report: report).html)
    }
}
