import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The paths that calls of this run have changed, with times; responses that were stored earlier under these paths and
/// that HTTP's rules govern are not used.
///
/// Entries in memory are removed immediately. Entries on disk would have to be read one by one, so they are checked
/// when they are loaded.
struct ChangedPaths: Sendable {
    /// A path of a service in an environment, however it begins.
    struct Place: Sendable, Hashable {
        let service: String
        let environment: String
        let path: String

        init(service: String, environment: String, path: String) {
            self.service = service
            self.environment = environment
            // The path of a configuration may contain a query; a change affects everything that begins with the path.
            self.path = Self.normalised(String(path.before(UInt8(ascii: "?"), UInt8(ascii: "#")).drop { $0 == "/" }))
        }

        /// Creates the place of a stored response.
        ///
        /// - Parameters:
        ///   - parts: The parts of its key.
        ///   - client: The client, which knows whether an absolute URL belongs to a server that is also called by
        ///     paths.
        init(_ parts: CacheKeyParts, of client: NetworkClient) {
            self.init(
                service: parts.partition.service,
                environment: parts.partition.environment,
                path: client.storagePath(ofAbsolute: parts.path) ?? parts.path
            )
        }

        /// Returns the canonical form of the path or of the URL of another host: without dot segments, and with exactly
        /// those characters escaped that a URL cannot contain.
        private static func normalised(_ path: String) -> String {
            if path.contains("://") { return RequestURL(path)?.normalForm ?? path }
            guard !isNormal(path), let url = RequestURL("http://unused.example/\(path)") else { return path }
            return String(url.pathInNormalForm.dropFirst())
        }

        /// Whether nothing in a path may be written in another way; most are so, and all that is stored is looked through.
        private static func isNormal(_ path: String) -> Bool {
            var last = UInt8(ascii: "/")
            for byte in path.utf8 {
                switch byte {
                case 0...32, 127..., UInt8(ascii: "\""), UInt8(ascii: "%"), UInt8(ascii: "<"), UInt8(ascii: ">"),
                    UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{")...UInt8(ascii: "}"):
                    return false
                case UInt8(ascii: "/") where last == UInt8(ascii: "."): return false
                default: last = byte
                }
            }
            return last != UInt8(ascii: ".")
        }

        /// The service and the environment.
        var partition: CachePartition { CachePartition(service: service, environment: environment) }
    }

    /// The maximum number of remembered places; the one that changed first is forgotten.
    static let limit = 1_000

    private var dates: [Place: Date] = [:]
    /// The time of the last change whose place is forgotten; it may have affected any place.
    private var forgotten: Date?

    /// Records a change.
    mutating func note(_ place: Place, at date: Date) {
        if dates.count >= Self.limit, dates[place] == nil, let first = dates.min(by: { $0.value < $1.value }) {
            dates[first.key] = nil
            forgotten = max(first.value, forgotten ?? .distantPast)
        }
        dates[place] = date
    }

    /// When a place was changed, or at the latest if that is forgotten.
    func lastChange(of place: Place) -> Date? {
        dates[place] ?? forgotten
    }
}
