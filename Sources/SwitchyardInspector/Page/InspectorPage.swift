import Foundation

/// The page of the inspector, from the files beside this one.
package enum InspectorPage {
    package static let page = HTMLPage(
        frame: PackageResources.inspector_html,
        styles: [
            PackageResources.inspector_css, PackageResources.servers_css, PackageResources.list_css,
            PackageResources.detail_css,
        ],
        scripts: [
            PackageResources.words_js, PackageResources.store_js, PackageResources.feed_js, PackageResources.filter_js,
            PackageResources.badges_js, PackageResources.bars_js, PackageResources.overview_js,
            PackageResources.list_js, PackageResources.waterfall_js, PackageResources.copying_js,
            PackageResources.json_js, PackageResources.bodies_js, PackageResources.har_js, PackageResources.detail_js,
            PackageResources.servers_js, PackageResources.faults_js, PackageResources.events_js,
            PackageResources.header_js, PackageResources.inspector_js,
        ]
    )

    /// The whole page.
    ///
    /// - Parameter record: What it shows by itself; a page without asks the inspector that it came from.
    /// - Returns: The HTML.
    /// - Throws: `EncodingError`, for times that are no numbers.
    package static func html(showing record: InspectorRecord? = nil) throws -> String {
        guard let record else { return page.html }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return page.html(holding: String(decoding: try encoder.encode(record), as: UTF8.self), as: "record")
    }
}
