import SwitchyardInspector

/// The page that shows a report, from the files in `Page`, which are part of the program, and from the report as JSON.
enum ReportPage {
    static let page = HTMLPage(
        frame: PackageResources.report_html,
        styles: [PackageResources.report_css],
        scripts: [
            PackageResources.marks_js, PackageResources.plot_js, PackageResources.calls_js, PackageResources.bands_js,
            PackageResources.series_js, PackageResources.tables_js, PackageResources.report_js,
        ]
    )

    /// The whole page.
    static func html(for report: Report) throws -> String { page.html(holding: try report.json(), as: "report") }
}
