import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The paths to which calls of this run have sent write requests, such as PUT, with the times of these changes.
///
/// A response that was stored before such a change is not used if HTTP's rules decide on its freshness. Entries in
/// memory are removed immediately. Entries on disk would have to be read one by one, so they are checked when they are
/// loaded.
struct ChangedPaths: Sendable {
    /// A path of a service in an environment, with or without a leading slash.
    struct Place: Sendable, Hashable {
        let service: String
        let environment: String
        let path: String

        init(service: String, environment: String, path: String) {
            self.service = service
            self.environment = environment
            // The path of a configuration may contain a query. It is removed, because a change affects the path with
            // any query.
            self.path = Self.normalised(String(path.before(UInt8(ascii: "?"), UInt8(ascii: "#")).drop { $0 == "/" }))
        }

        /// Creates the `Place` of a stored response: its service, environment and path.
        ///
        /// - Parameters:
        ///   - parts: The parts of the cache key of the response.
        ///   - client: The client, which knows whether an absolute URL belongs to one of its servers. Such a URL is
        ///     converted to a path.
        init(_ parts: CacheKeyParts, of client: NetworkClient) {
            self.init(
                service: parts.partition.service,
                environment: parts.partition.environment,
                path: client.storagePath(ofAbsolute: parts.path) ?? parts.path
            )
        }

        /// Returns the canonical form of the path, or of the URL of another host.
        ///
        /// The canonical form has no dot segments, and exactly the characters that a URL cannot contain are escaped.
        private static func normalised(_ path: String) -> String {
            if path.contains("://") { return RequestURL(path)?.normalForm ?? path }
            guard !isNormal(path), let url = RequestURL("http://unused.example/\(path)") else { return path }
            return String(url.pathInNormalForm.dropFirst())
        }

        /// Returns whether a path is already in canonical form.
        ///
        /// This fast check succeeds for most paths, and is needed because a write request compares its path with the
        /// paths of all stored responses.
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

        /// The partition of the service and environment, without a user.
        var partition: CachePartition { CachePartition(service: service, environment: environment) }
    }

    /// The maximum number of paths whose changes are recorded.
    ///
    /// If more paths change, the path with the oldest change is forgotten.
    static let limit = 1_000

    private var dates: [Place: Date] = [:]
    /// The time of the latest change that was forgotten.
    ///
    /// It may have been a change of any path that is not in `dates`.
    private var forgotten: Date?

    /// Records the time at which the resource at a path was changed.
    mutating func note(_ place: Place, at date: Date) {
        if dates.count >= Self.limit, dates[place] == nil, let first = dates.min(by: { $0.value < $1.value }) {
            dates[first.key] = nil
            forgotten = max(first.value, forgotten ?? .distantPast)
        }
        dates[place] = date
    }

    /// Returns the time at which the resource at a path was last changed, or `nil` if no change is known.
    ///
    /// If changes were forgotten and none is recorded for this path, the time of the latest forgotten change is
    /// returned.
    func lastChange(of place: Place) -> Date? {
        dates[place] ?? forgotten
    }
}
