import Foundation
import SwitchyardDiagnostics

/// The recorded calls as a file that can be shared.
enum TrafficExport: String, Sendable, CaseIterable {
    /// An HTTP Archive.
    case archive
    /// A page that works without the inspector.
    case page

    /// The name of the file.
    var fileName: String {
        switch self {
        case .archive: "calls.har"
        case .page: "calls.html"
        }
    }

    /// Returns the content of the file.
    ///
    /// - Throws: The system's error if the page cannot be read, or an encoding error.
    func data(of inspector: TrafficInspector) throws -> Data {
        switch self {
        case .archive: try inspector.desk.book.archive().data()
        case .page: Data(try InspectorPage().html(showing: inspector.desk.record).utf8)
        }
    }
}
