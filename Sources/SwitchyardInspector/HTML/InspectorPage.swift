import Foundation

/// The page of the inspector, from the files beside this one.
package struct InspectorPage: Sendable {
    package let page: HTMLPage

    /// Reads the files.
    ///
    /// - Throws: ``PageFolder/Missing``, or what the system says when a file cannot be read.
    package init() throws {
        page = try HTMLPage(
            frame: "inspector.html",
            styles: ["inspector.css", "servers.css", "list.css", "detail.css"],
            scripts: [
                "words.js", "store.js", "feed.js", "filter.js", "badges.js", "bars.js", "overview.js", "list.js",
                "waterfall.js", "copying.js", "json.js", "bodies.js", "har.js", "detail.js", "servers.js", "faults.js",
                "events.js", "header.js", "inspector.js",
            ],
            of: "SwitchyardInspector",
            besides: #filePath
        )
    }

    /// The whole page, which asks the inspector that it came from.
    package var html: String { page.html }

    /// The whole page, which shows a record by itself.
    ///
    /// - Parameter record: What it shows.
    /// - Returns: The HTML.
    /// - Throws: `EncodingError`, for times that are no numbers.
    package func html(showing record: InspectorRecord) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return page.html(holding: String(decoding: try encoder.encode(record), as: UTF8.self), as: "record")
    }
}
