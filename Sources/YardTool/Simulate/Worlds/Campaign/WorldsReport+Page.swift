import SwitchyardInspector

extension ReportPage {
    /// Returns the complete page of the report on worlds (random scenarios): text and tables, no charts.
    func html(for report: WorldsReport) throws -> String {
        page.html(holding: try report.json(), as: "worlds", text: report.html)
    }
}

extension ReportFile {
    /// Writes the page of the worlds (random scenarios) into the file, in place of its previous contents.
    func write(_ report: WorldsReport) throws {
        try write(html: page.html(for: report))
    }
}
