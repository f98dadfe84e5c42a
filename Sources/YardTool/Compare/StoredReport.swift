import Foundation

/// A report that was read from a page that `yard` has written.
struct StoredReport {
    /// An error that reports why a file is not a report that can be compared.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let path: String
        let reason: String

        var description: String { "\(path) \(reason)" }
    }

    private static let start = #"<script type="application/json" id="report">"#

    let path: String
    let report: Report

    /// Reads the report from the page at a path.
    init(at path: String) throws(Problem) {
        self.path = path
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Problem(path: path, reason: "cannot be read")
        }
        let html = String(decoding: data, as: UTF8.self)
        guard let begin = html.range(of: Self.start)?.upperBound,
            let end = html.range(of: "</script>", range: begin..<html.endIndex)?.lowerBound
        else { throw Problem(path: path, reason: "must be a report page that yard has written") }
        do {
            report = try JSONDecoder().decode(Report.self, from: Data(html[begin..<end].utf8))
        } catch {
            throw Problem(path: path, reason: "has a report that cannot be read: \(error)")
        }
        guard report.format == Report.formatName, report.version == Report.currentVersion else {
            let found = "\(report.format), version \(report.version)"
            let expected = "a report of format \(Report.formatName), version \(Report.currentVersion)"
            throw Problem(path: path, reason: "must contain \(expected); found \(found)")
        }
    }
}
