import Foundation
import Testing

@testable import yard

@Suite struct CompareCommandTests {
    @Test func `the comparison of reports lists each verdict, and its table has only the settings that differ`()
        throws
    {
        var hang = TrafficStory.hang()
        hang.facts = [Report.Fact(name: "service", value: "shop"), Report.Fact(name: "policy", value: "off")]
        var calm = TrafficStory.calm
        calm.facts = [Report.Fact(name: "service", value: "shop"), Report.Fact(name: "policy", value: "recommended")]

        let lines = try compared([Report(of: hang), Report(of: calm)])

        #expect(lines[0].hasSuffix("0.html: Server primary failed and is back. 1 of 18 calls failed."))
        #expect(lines[1].hasSuffix("1.html: All 10 calls succeeded."))
        let table = lines.dropFirst(3).map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(table.contains("policy off recommended"))
        #expect(!table.contains { $0.hasPrefix("service") })
        #expect(table.contains("failed 1 (5.56 %) 0 (0 %)"))
        #expect(table.contains("99 % ended within 2.0 s 10 ms"))
        #expect(table.contains("calls, during the fault 7 –"))
        #expect(table.contains("saved calls 5 0"))
        #expect(Set(lines.dropFirst(3).map(\.columns)).count == 1)
    }

    @Test(arguments: [
        ("<p>no report</p>", "must be a report page that yard has written"),
        (#"<script type="application/json" id="report">{}</script>"#, "has a report that cannot be read"),
    ])
    func `the error for a file without a report names the path and the problem`(html: String, problem: String)
        async throws
    {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("page.html")
            try Data(html.utf8).write(to: file)

            let error = #expect(throws: StoredReport.Problem.self) { try StoredReport(at: file.path) }

            #expect(error?.description.hasPrefix("\(file.path) \(problem)") == true)
            #expect(await Yard.run(["compare", file.path, file.path]) == 1)
        }
    }

    @Test func `the compare command refuses a report of another version`() throws {
        var report = Report(of: .calm)
        report.version = 2

        let error = #expect(throws: StoredReport.Problem.self) { try compared([report]) }

        #expect(
            error?.reason
                == "must contain a report of format switchyard-report, version 1; found switchyard-report, version 2"
        )
    }

    @Test func `the compare command refuses a single report`() async {
        #expect(await Yard.run(["compare", "one.html"]) == 2)
    }

    /// Writes the pages of reports, reads them and returns the lines of their comparison.
    private func compared(_ reports: [Report]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("compare-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stored = try reports.enumerated().map { place, report in
            let file = folder.appendingPathComponent("\(place).html")
            try Data(ReportPage().html(for: report).utf8).write(to: file)
            return try StoredReport(at: file.path)
        }
        return ReportComparison(stored).lines
    }
}
