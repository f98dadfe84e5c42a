import Foundation
import Switchyard

/// A benchmark of the memory cache: its time compared with a dictionary that a lock protects and with `NSCache`, and
/// its hit ratio.
struct CacheBenchmark {
    let isJSON: Bool
    /// The part of the benchmark to run alone, for a profiler (`hit`, `get`, `store` or `ratio`), or `nil` for all
    /// parts.
    var only: String?
    private static let entries = 10_000

    func run() async throws {
        if let only { try BenchmarkError.refuse([only], unlessAmong: ["hit", "get", "store", "ratio"]) }
        var sheet = FigureSheet(isJSON: isJSON)
        if runs("hit") {
            let child = try ChildServer()
            try await sheet.add("cache hit with an APIManager", throughManager(child.url))
            withExtendedLifetime(child) {}
        }
        if runs("get") { try await sheet.add("get, 10,000 entries, one thread", gets()) }
        for count in [1_000, 100_000] where runs("store") {
            try await sheet.add("store in a full cache of \(count) entries", evictions(count))
        }
        for trace in runs("ratio") ? CacheTrace.all : [] {
            let title = "hits per 100 requests, \(trace.name), space for 1,000 of \(trace.keys) keys"
            sheet.add(title, "ResponseCache (SIEVE)", 100 * hitRatio(trace), "%")
            sheet.add(title, "least recently used", 100 * trace.leastRecentlyUsed(1_000), "%")
            sheet.add(title, "first in, first out", 100 * trace.firstInFirstOut(1_000), "%")
            sheet.add(title, "optimum (Belady)", 100 * trace.clairvoyant(1_000), "%")
        }
        try sheet.finish()
    }

    private func runs(_ part: String) -> Bool { only == nil || only == part }

    private static let partition = CachePartition(service: "topics", environment: "release")

    private static func key(_ number: Int) -> CacheKey {
        CacheKey(partition, path: "topics/\(number)", parameters: [("page", "1"), ("size", "20")])
    }

    private func throughManager(_ url: String) throws -> Race {
        let manager = CachedTopicAPI(client: try CachedTopicAPI.client(url))
        return Race(
            runners: [
                Race.Runner("APIManager, fresh response") { times in
                    _ = try await manager.topics()
                    for _ in 0..<times where try await manager.topics().count != 2 {
                        throw BenchmarkError("the response must have 2 topics")
                    }
                }
            ],
            times: 200_000
        )
    }

    private func gets() -> Race {
        let topics = [SampleTopic(id: 1, title: "Points", replies: 12)]
        let keys = (0..<Self.entries).map(Self.key)
        let order = (0..<65_536).map { _ in keys[Int.random(in: 0..<Self.entries)] }
        let cache = ResponseCache(limits: .init(cost: .max, count: Self.entries))
        let dictionary = Locked<[CacheKey: [SampleTopic]]>([:])
        let platform = PlatformCache()
        for key in keys {
            cache.store(topics, for: key, lifetime: .seconds(3_600), cost: 80)
            dictionary.withLock { $0[key] = topics }
            platform.store(topics, for: key)
        }
        return Race(
            runners: [
                Race.Runner("ResponseCache") { times in
                    try repeated(times) { cache.value(for: order[$0 & 65_535], as: [SampleTopic].self) != nil }
                },
                Race.Runner("dictionary with a lock") { times in
                    try repeated(times) { index in dictionary.withLock { $0[order[index & 65_535]] } != nil }
                },
                Race.Runner("NSCache") { times in
                    try repeated(times) { platform.value(for: order[$0 & 65_535]) != nil }
                },
            ],
            times: 500_000
        )
    }

    private func evictions(_ count: Int) -> Race {
        let topics = [SampleTopic(id: 1, title: "Points", replies: 12)]
        let keys = (0..<count * 4).map(Self.key)
        let cache = ResponseCache(limits: .init(cost: .max, count: count))
        let platform = PlatformCache(limit: count)
        for key in keys.prefix(count) {
            cache.store(topics, for: key, lifetime: .seconds(3_600), cost: 80)
            platform.store(topics, for: key)
        }
        return Race(
            runners: [
                Race.Runner("ResponseCache") { times in
                    for index in 0..<times {
                        cache.store(topics, for: keys[index % keys.count], lifetime: .seconds(3_600), cost: 80)
                    }
                },
                Race.Runner("NSCache") { times in
                    for index in 0..<times { platform.store(topics, for: keys[index % keys.count]) }
                },
            ],
            times: max(50_000, count * 2)
        )
    }

    private func hitRatio(_ trace: CacheTrace) -> Double {
        let cache = ResponseCache(limits: .init(cost: .max, count: 1_000))
        let keys = (0..<trace.keys).map(Self.key)
        var hits = 0
        for number in trace.requests {
            if cache.value(for: keys[number], as: Int.self) != nil {
                hits += 1
            } else {
                cache.store(number, for: keys[number], lifetime: .seconds(3_600), cost: 1)
            }
        }
        return Double(hits) / Double(trace.requests.count)
    }
}

private func repeated(_ times: Int, _ isThere: (Int) -> Bool) throws {
    for index in 0..<times where !isThere(index) { throw BenchmarkError("entry \(index) is missing") }
}

/// `NSCache` with the same keys and values.
private final class PlatformCache: Sendable {
    private final class Key: NSObject {
        let key: CacheKey

        init(_ key: CacheKey) {
            self.key = key
        }

        override var hash: Int { key.hashValue }

        override func isEqual(_ object: Any?) -> Bool { (object as? Key)?.key == key }
    }

    private final class Box {
        let topics: [SampleTopic]

        init(_ topics: [SampleTopic]) {
            self.topics = topics
        }
    }

    // `NSCache` is documented as thread-safe, and the reference never changes.
    nonisolated(unsafe) private let cache = NSCache<Key, Box>()

    init(limit: Int = 0) {
        cache.countLimit = limit
    }

    func store(_ topics: [SampleTopic], for key: CacheKey) {
        cache.setObject(Box(topics), forKey: Key(key), cost: 80)
    }

    func value(for key: CacheKey) -> [SampleTopic]? {
        cache.object(forKey: Key(key))?.topics
    }
}

/// A manager whose responses are cached.
private final class CachedTopicAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    static func client(_ url: String) throws -> NetworkClient {
        guard var parts = URLComponents(string: url) else { throw BenchmarkError("not a URL: \(url)") }
        parts.path = ""
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: [.test: try ServerURL(parts.string ?? "")])],
            defaultEnvironment: .test
        )
        return try NetworkClient(service: service)
    }

    func topics() async throws(APIError) -> [SampleTopic] {
        var configuration = APIConfiguration(path: "topics")
        configuration.cacheLifetime = .seconds(3_600)
        return try await value(for: configuration)
    }
}
