import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// The caching suite of YTKNetwork, run through a manager with a disk cache.
@Suite(.timeLimit(.minutes(5)), .prompt) struct YTKFlowCaseTests {
    @Test func `caching behaves as in YTKNetwork`() async throws {
        let keys = """
            steps expected expected_body_args expected_cache_dir_suffix response validator expected_success expected_error
            timeout server_delay credentials server_wants batch chain responses expected_start_order download
            first_attempt second_attempt existing_file method path headers
            """
        try await CaseFile("ytk_cache_and_flow").run(reading: keys) {
            (item: CaseFile.Case) async throws -> Verdict in
            if let steps = item["steps"]?.array {
                guard steps.allSatisfy(Walk.reads) else {
                    return .notApplicable("The test does not support the kind of step.")
                }
                let walk = Walk()
                let verdict = try await walk.run(steps)
                let sources = item["expected"]?.array?.compactMap(\.bool) ?? walk.sources
                let parts = item["expected_body_args"]?.object?.map { "\($0)=\($1.string ?? "")" } ?? []
                let last = String(decoding: walk.bodies.last ?? Data(), as: UTF8.self)
                let suffix = item["expected_cache_dir_suffix"]?.string
                return .all(
                    [verdict, .equal(walk.sources, sources), suffix.map(walk.storesUnder) ?? .passed]
                        + parts.map { .equal(last.contains($0), true) }
                )
            }
            if let status = item.value.value(at: "response.status")?.int, item["validator"] != nil {
                let words = item["validator"]?.string?.split(separator: " ") ?? []
                guard words.count == 3, words[1] == "==", let wanted = Int(words[2]) else {
                    return .notApplicable("The rule is described in prose.")
                }
                let rules = ResponseRules(status: .only([wanted]), contentType: .any)
                let result = Result { try ResponseSerializer.data.value(of: RawResponse(status: status), rules: rules) }
                let isSuccess = Verdict.equal((try? result.get()) != nil, item["expected_success"]?.bool)
                guard case .failure(let error as APIError) = result else { return isSuccess }
                return .all([isSuccess, .equal(error.reason, .status(status))])
            }
            return .notApplicable("Other tests cover timeouts, credentials, chains and downloads.")
        }
    }

    /// An app and its cache over the steps of a case.
    private final class Walk {
        let folder = TemporaryFolder()
        let clock = ManualClock()
        var place: URL
        lazy var topics: TopicAPI? = try? makeTopics()
        var bodies: [Data] = []
        /// Whether each response came from the cache.
        var sources: [Bool] = []
        var seconds = 0.0

        init() {
            place = folder.url
        }

        /// Whether every key of a step is read.
        static func reads(_ step: JSONValue) -> Bool {
            let known: Set = [
                "at_seconds", "request", "expected_from_cache", "cacheDirSuffix", "save_body_of", "for_path",
            ]
            let request: Set = ["path", "cacheTime", "version", "sensitive", "startWithoutCache", "ignoreCache"]
            let keys = { (value: JSONValue?) in Set(value?.object.map { Array($0.keys) } ?? []) }
            return keys(step).isSubset(of: known) && keys(step["request"]).isSubset(of: request)
        }

        private func makeTopics() throws -> TopicAPI {
            let transport = StubTransport { request in .json(#"{"url":"\#(request.url.text)"}"#) }
            let client = try NetworkClient.stubbed(transport, time: clock)
            let disk = try DiskCache(at: place)
            let start = Date()
            client.responseCache = ResponseCache(disk: disk, time: clock) { [clock] in
                start + MonotonicTime.zero.duration(to: clock.now).inSeconds
            }
            return TopicAPI(client: client)
        }

        func run(_ steps: [JSONValue]) async throws -> Verdict {
            for (index, step) in steps.enumerated() {
                if let suffix = step["cacheDirSuffix"]?.string {
                    place = DiskCache.standardFolder(filters: [
                        { [place] _ in place }, { $0.appendingPathComponent(suffix) },
                    ])
                } else if let path = step["for_path"]?.string {
                    var target = configuration(path: path, step)
                    target.cacheLifetime = .seconds(10)
                    let source = step["save_body_of"]?.int ?? 0
                    guard bodies.indices.contains(source) else { return .failed("no body \(source)") }
                    let saved = bodies[source]
                    try topics?.storeResponse(saved, for: target, with: .json)
                    await (topics?.cache.disk as? DiskCache)?.flush()  // The folder is deleted afterwards.
                } else {
                    let isCached = try await ask(step)
                    guard isCached == step["expected_from_cache"]?.bool else { return .failed("step \(index)") }
                }
            }
            let stores = steps.contains { ($0.value(at: "request.cacheTime")?.int ?? 0) > 0 }
            return .equal(folder.entries.isEmpty, !stores)
        }

        /// Compares whether the last folder has this suffix and contains the responses.
        func storesUnder(_ suffix: String) -> Verdict {
            let answers = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
            return .all([.equal(place.lastPathComponent, suffix), .equal(answers.isEmpty, false)])
        }

        private func ask(_ step: JSONValue) async throws -> Bool {
            let time = step["at_seconds"]?.double ?? seconds
            clock.advance(by: .seconds(time - seconds))
            seconds = time
            let asked = configuration(path: step.value(at: "request.path")?.string ?? "", step["request"] ?? [:])
            let response = try await topics?.response(for: asked, with: .json)
            await (topics?.cache.disk as? DiskCache)?.flush()
            bodies.append(response?.value.data ?? Data())
            sources.append(response?.isFromCache ?? false)
            return response?.isFromCache ?? false
        }

        private func configuration(path: String, _ request: JSONValue) -> APIConfiguration {
            var configuration = APIConfiguration(path: path)
            configuration.cacheLifetime = .seconds(request["cacheTime"]?.int ?? 0)
            configuration.cache.version = request["version"]?.int ?? 0
            configuration.cache.sensitiveData = request["sensitive"].flatMap { $0.isNull ? nil : $0.text }
            let asksServer = ["startWithoutCache", "ignoreCache"].contains { request[$0]?.bool == true }
            configuration.cache.reading = asksServer ? .never : .whenFresh
            return configuration
        }
    }
}
