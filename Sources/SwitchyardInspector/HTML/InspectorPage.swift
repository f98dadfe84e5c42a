import Foundation

/// The page of the inspector, made from the files in the folder `Page`.
package struct InspectorPage: Sendable {
    package let page: HTMLPage

    /// Reads the files of the page.
    ///
    /// - Throws: ``PageFolder/Missing``, or the system's error if a file cannot be read.
    package init() throws {
        page = try HTMLPage(
            frame: "inspector.html",
            styles: ["inspector.css", "servers.css", "list.css", "detail.css", "messages.css"],
            scripts: [
                "words.js", "store.js", "feed.js", "filter.js", "badges.js", "bars.js", "overview.js", "list.js",
                "waterfall.js", "copying.js", "json.js", "bodies.js", "har.js", "messages.js", "detail.js",
                "servers.js", "faults.js", "events.js", "header.js", "inspector.js",
            ],
            of: "SwitchyardInspector",
            besides: #filePath
        )
    }

    /// The complete page, which requests its data from the inspector that served the page.
    package var html: String { page.html }

    /// Returns the complete page with an embedded record, which works without a running inspector.
    ///
    /// - Parameter record: The record that the page shows.
    /// - Returns: The HTML.
    /// - Throws: `EncodingError` if a time is NaN or infinite.
    package func html(showing record: InspectorRecord) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = String(decoding: try encoder.encode(record), as: UTF8.self)
        return page.html(holding: data, as: "record", text: record.text)
    }
}

extension InspectorRecord {
    /// The maximum number of calls in ``text``.
    private static let textLimit = 500

    /// The verdict and the newest calls as HTML that can be read without scripts.
    fileprivate var text: String {
        let calls = feed.calls.suffix(Self.textLimit).reversed().map(\.cells)
        let table = HTMLTable("Calls, newest first", ["#", "call", "servers", "outcome", "took"], calls)
        return "<h1>\(HTMLText.escaped(name))</h1>\n\(feed.verdict.html)\n\(table.html)"
    }
}

extension InspectedCall {
    /// The cells of the call in a table: number, request, servers, outcome and duration.
    fileprivate var cells: [String] { ["\(number)", "\(method) \(path)", route, result, took] }
}
