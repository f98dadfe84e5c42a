import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Where calls changed something in this run, and when: what was stored there before, for HTTP's rules to decide on, is
/// not used.
///
/// The entries of memory go at once. Those on disk would have to be read one by one to be found, so they are judged when
/// they are recalled.
struct ChangedPaths: Sendable {
    /// A path of a service in an environment, however it begins.
    struct Place: Sendable, Hashable {
        let service: String
        let environment: String
        let path: String

        init(service: String, environment: String, path: String) {
            self.service = service
            self.environment = environment
            // A query may stand in the path of a configuration; what is changed is everything that begins so.
            self.path = Self.normalised(String(path.before(UInt8(ascii: "?"), UInt8(ascii: "#")).drop { $0 == "/" }))
        }

        /// The place of a stored answer.
        ///
        /// - Parameters:
        ///   - parts: The parts of its key.
        ///   - client: Knows whether an absolute URL is that of a server, which is asked by paths too.
        init(_ parts: CacheKeyParts, of client: NetworkClient) {
            self.init(
                service: parts.partition.service,
                environment: parts.partition.environment,
                path: client.storagePath(ofAbsolute: parts.path) ?? parts.path
            )
        }

        /// The path, or the URL of another host, as it is the same for all who write it in other ways: without dot
        /// segments, and with what a URL cannot hold escaped, and nothing else.
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

    /// The most places that are remembered; the one that was changed first is forgotten.
    static let limit = 1_000

    private var dates: [Place: Date] = [:]
    /// The last of the changes whose places are forgotten: it may have been anywhere.
    private var forgotten: Date?

    /// Takes note of a change.
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
