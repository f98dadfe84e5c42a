import Foundation
import Switchyard
import SwitchyardInspector
import Testing

@testable import yard

@Suite struct ReportPageTests {
    private static let evil = "</script><script>alert(1)</script><!-- &\u{2028}\"'"

    private static let dangerous = [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "</script", "<!--",
    ]

    /// The text inside the element that holds the data.
    private func data(in html: String) throws -> Substring {
        let begin = try #require(html.range(of: #"<script type="application/json" id="report">"#))
        let end = try #require(html.range(of: "</script>", range: begin.upperBound..<html.endIndex))
        return html[begin.upperBound..<end.lowerBound]
    }

    @Test func `a server name with a script end tag stays text on the report page`() throws {
        let report = Report(of: .hang(names: [Self.evil, "secondary"]))

        let html = try ReportPage().html(for: report)

        #expect(!html.contains("alert(1)</script>"))
        #expect(html.components(separatedBy: "</script>").count == 3)
        #expect(try JSONDecoder().decode(Report.self, from: Data(data(in: html).utf8)) == report)
    }

    @Test func `a path and a failure with a script end tag stay text on the report page`() throws {
        var story = TrafficStory.hang()
        story.facts = [Report.Fact(name: "calls", value: "GET /" + Self.evil)]
        story.notes.calls[0].failure = Self.evil

        let report = Report(of: story)
        let html = try ReportPage().html(for: report)

        #expect(html.components(separatedBy: "</script>").count == 3)
        #expect(try JSONDecoder().decode(Report.self, from: Data(data(in: html).utf8)) == report)
    }

    @Test func `the report lists failed calls by reason, the most frequent reason first`() throws {
        var story = TrafficStory.hang()
        let sound = story.notes.calls.indices.filter { story.notes.calls[$0].failure == nil }
        for call in sound.prefix(3) { story.notes.calls[call].failure = "http503" }

        let text = ReportText(report: Report(of: story)).html

        let table = try #require(text.range(of: "Failed calls by reason"))
        let rows = text[table.upperBound...]
        let most = try #require(rows.range(of: "503 Service Unavailable"))
        let least = try #require(rows.range(of: "no response in time"))
        #expect(most.lowerBound < least.lowerBound)
        #expect(rows[most.upperBound..<least.lowerBound].contains(">3<"))
    }

    @Test(arguments: [(19, "<td>–</td>"), (20, "<td>10 ms</td>")])
    func `the table of numbers in a report has percentiles only for at least 20 calls`(count: Int, cell: String) {
        var story = TrafficStory.calm
        story.notes.calls = (0..<count).map { place in
            let start = MonotonicTime(seconds: 100 + Double(place) / 10)
            return RecordedCall(start: start, wait: .milliseconds(10), server: "primary")
        }

        let text = ReportText(report: Report(of: story)).html

        #expect(text.contains("<td>0</td>\(cell)\(cell)\(cell)<td>10 ms</td>"))
    }

    @Test func `a report without a failed call has no table of reasons`() throws {
        var story = TrafficStory.hang()
        for call in story.notes.calls.indices { story.notes.calls[call].failure = nil }

        #expect(!ReportText(report: Report(of: story)).html.contains("Failed calls by reason"))
    }

    @Test func `a server name on the report page is not replaced even if it looks like a placeholder`() throws {
        let report = Report(of: .hang(names: ["<!-- script -->", "<!-- data -->"]))

        #expect(try ReportPage().html(for: report).components(separatedBy: #"id="report""#).count == 2)
    }

    @Test func `the report page contains its style, data and script, and loads no other resource`() throws {
        let html = try ReportPage().html(for: Report(of: .hang()))

        #expect(html.hasPrefix("<!DOCTYPE html>"))
        #expect(html.contains("default-src 'none'"))
        for part in ["prefers-color-scheme: dark", "@media print", "class CallPlot", "class TimeView"] {
            #expect(html.contains(part), "\(part)")
        }
        for part in ["<!-- style -->", "<!-- data -->", "<!-- script -->"] { #expect(!html.contains(part), "\(part)") }
        for part in [" src=", " href=", "url(", "@import", "fetch("] { #expect(!html.contains(part), "\(part)") }
    }

    @Test func `the scripts of the report neither create markup from data nor contain a script end tag`() throws {
        for text in try ReportPage().page.scripts + InspectorPage().page.scripts {
            for word in Self.dangerous { #expect(!text.contains(word), "\(word)") }
        }
    }

    @Test func `a report page with 50,000 calls has less than two megabytes`() throws {
        var story = TrafficStory.calm
        let waits = (0..<50_000).map { 900 + $0 * 7_919 % 100_000 }
        story.notes.calls = waits.enumerated().map { place, wait in
            let start = MonotonicTime(nanoseconds: 100_000_000_000 + Int64(place) * 1_000_000)
            let server = place.isMultiple(of: 3) ? "secondary" : "primary"
            return RecordedCall(start: start, wait: .microseconds(wait), server: server)
        }

        let report = Report(of: story)

        #expect(report.calls?.start.count == 50_000)
        #expect(report.totals.map(\.answered) == [33_333, 16_667])
        #expect(try ReportPage().html(for: report).utf8.count < 2_000_000)
    }
}
