#if canImport(SwiftUI) && !os(tvOS)
    import CoreTransferable
    import Foundation
    import SwiftUI
    import UniformTypeIdentifiers

    /// The buttons that share the recorded calls.
    ///
    /// A file is made when it is shared.
    @available(macOS 14, iOS 17, watchOS 10, visionOS 1, *)
    struct TrafficShareMenu: View {
        let inspector: TrafficInspector

        var body: some View {
            #if os(watchOS)
                ShareLink(item: SharedArchive(inspector: inspector), preview: SharePreview("HTTP Archive"))
            #else
                Menu("Share", systemImage: "square.and.arrow.up") {
                    ShareLink(item: SharedArchive(inspector: inspector), preview: SharePreview("HTTP Archive")) {
                        Text("HTTP Archive")
                    }
                    ShareLink(item: SharedPage(inspector: inspector), preview: SharePreview("Page with all calls")) {
                        Text("Page with all calls")
                    }
                }
            #endif
        }
    }

    /// The recorded calls as an HTTP Archive.
    @available(macOS 14, iOS 17, watchOS 10, visionOS 1, *)
    private struct SharedArchive: Transferable {
        let inspector: TrafficInspector

        static var transferRepresentation: some TransferRepresentation {
            DataRepresentation(exportedContentType: .json) { (shared: SharedArchive) in
                try TrafficExport.archive.data(of: shared.inspector)
            }
            .suggestedFileName(TrafficExport.archive.fileName)
        }
    }

    /// The recorded calls as a page that works without the inspector.
    @available(macOS 14, iOS 17, watchOS 10, visionOS 1, *)
    private struct SharedPage: Transferable {
        let inspector: TrafficInspector

        static var transferRepresentation: some TransferRepresentation {
            DataRepresentation(exportedContentType: .html) { (shared: SharedPage) in
                try TrafficExport.page.data(of: shared.inspector)
            }
            .suggestedFileName(TrafficExport.page.fileName)
        }
    }
#endif
