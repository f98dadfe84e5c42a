import Foundation

/// Where calls changed something, and when: what was stored there before, for HTTP's rules to decide on, is not used.
///
/// The entries of memory go at once. Those on disk would have to be read one by one to be found, so they are judged when
/// they are recalled.
struct ChangedPaths: Sendable {
    /// A path of a service in an environment, however it begins.
    struct Place: Sendable, Hashable {
        let service: String
        let environment: String
        private let path: Substring

        init(service: String, environment: String, path: String) {
            self.service = service
            self.environment = environment
            self.path = path.drop { $0 == "/" }
        }

        init(_ parts: CacheKeyParts) {
            self.init(service: parts.partition.service, environment: parts.partition.environment, path: parts.path)
        }
    }

    /// The most places that are remembered; the one that was changed first is forgotten.
    private static let limit = 1_000

    private var dates: [Place: Date] = [:]

    /// Takes note of a change.
    mutating func note(_ place: Place, at date: Date) {
        if dates.count >= Self.limit, dates[place] == nil,
            let first = dates.min(by: { $0.value < $1.value })?.key
        {
            dates[first] = nil
        }
        dates[place] = date
    }

    /// Whether a place was changed after a time.
    func hasChanged(_ place: Place, since date: Date) -> Bool {
        dates[place].map { $0 > date } ?? false
    }
}
