import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

@Suite(.timeLimit(.minutes(5)), .prompt) struct PageCaseTests {
    @Test func `Link header fields are parsed as RFC 8288 requires`() throws {
        try CaseFile("link_header").run(reading: "header expected_links links expected_header") { item in
            if let expected = item["expected_header"]?.string {
                return .equal(Self.links(item["links"]).map(\.description).joined(separator: ", "), expected)
            }
            let links = WebLink.parse((item["header"]?.array ?? []).compactMap(\.caseText))
            let expected = item["expected_links"]?.array ?? []
            guard links.count == expected.count else { return .failed("\(links.count) links of \(expected.count)") }
            return .all(zip(links, expected).map(Self.compare))
        }
    }

    private static func links(_ list: JSONValue?) -> [WebLink] {
        (list?.array ?? []).map { link in
            WebLink(
                target: link["target"]?.string ?? "",
                relations: (link["rels"]?.array ?? []).compactMap(\.string),
                anchor: link["anchor"]?.string,
                parameters: (link["params"]?.object ?? [:]).sorted { $0.key < $1.key }.map {
                    WebLink.Parameter(name: $0.key, value: $0.value.string ?? "")
                }
            )
        }
    }

    private static func compare(_ link: WebLink, _ expected: JSONValue) -> Verdict {
        let query = expected["query"]?.object?.map { name, value -> Verdict in
            let items = URLComponents(string: link.target.replacing("+", with: "%20"))?.queryItems
            return .equal(items?.first { $0.name == name }?.value, value.string)
        }
        let parameters = expected["params"]?.object?.map { parameter($0, of: link, $1.string) }
        return .all(
            [
                .equal(link.target, expected["target"]?.string),
                .equal(link.relations, (expected["rels"]?.array ?? []).compactMap { $0.string?.lowercased() }),
                .equal(link.anchor, expected["anchor"]?.string ?? link.anchor),
            ] + (query ?? []) + (parameters ?? [])
        )
    }

    /// Compares a parameter, which is decoded from the extended form and found under its plain name.
    private static func parameter(_ name: String, of link: WebLink, _ expected: String?) -> Verdict {
        let plain = name.hasSuffix("*") ? String(name.dropLast()) : name
        let wanted = name == plain ? expected : expected.flatMap { ExtendedValue.decoded($0) } ?? expected
        return .equal(link.parameters.first { $0.name == plain.lowercased() }?.value, wanted)
    }

    @Test func `keyed pages are loaded as in Android's paging library`() async throws {
        let keys = """
            operations total anchor expected_pages expected_pages_exact expected_error expected_result
            expected_refresh_key
            """
        try await CaseFile("androidx_paging").run(reading: keys) { item in
            let steps = item["operations"]?.array ?? []
            if steps.contains(where: { $0["prepend"] != nil || $0["task1"] != nil }) {
                return .notApplicable("lists grow only at their end")
            }
            if steps.contains(where: { $0["invalidate"] != nil }) {
                return .notApplicable("the next refresh invalidates and restarts a list")
            }
            if item["expected_refresh_key"] != nil { return .notApplicable("a refresh starts at the first page") }
            if item["expected_error"] != nil {
                return await AndroidCase(item).leniency()
            }
            let known: Set = ["refresh", "append", "fails"]
            if steps.contains(where: { !Set($0.object.map { Array($0.keys) } ?? [""]).isSubset(of: known) }) {
                return .notApplicable("the test does not support the kind of step")
            }
            guard item["expected_pages"] ?? item["expected_pages_exact"] != nil else {
                return .notApplicable("the case has no expected pages, which callers read from their own list")
            }
            return try await AndroidCase(item).verdict()
        }
    }

    @Test func `responses of Django REST framework are loaded to the last page`() async throws {
        let keys = """
            style request server moves expected_page expected_status expected_body expected_previous expected_current
            expected_next
            """
        try await CaseFile("drf_pagination").run(reading: keys) { item in
            guard let page = item["expected_page"] else {
                return item["moves"] != nil
                    ? .notApplicable("the case tests cursors of a server and moves backwards")
                    : .notApplicable("the tests of responses cover a rejected status")
            }
            guard page.object?.keys.allSatisfy(["results", "previous", "next", "count"].contains) == true else {
                return .notApplicable("the response has an unsupported form")
            }
            return try await Self.walk(page)
        }
    }

    /// Replays a response: checks its items, and that the link to the next page is followed if there is one.
    private static func walk(_ answer: JSONValue) async throws -> Verdict {
        let items = answer["results"]?.array ?? []
        let next = answer["next"]?.string
        let recorder = PageRecorder<JSONValue>(strategy: .link)
        do throws(APIError) {
            try await recorder.refresh { _ in Page(items, total: answer["count"]?.int, nextLink: next) }
        } catch {
            // An empty list is reported as an error.
            return items.isEmpty ? .equal(error.code, .noData) : .failed("\(error)")
        }
        let asked = Locked<String?>(nil)
        _ = try? await recorder.loadMore { request -> [JSONValue] in
            asked.withLock { $0 = request.link }
            return []
        }
        return .all([
            .equal(Array(recorder.items.prefix(items.count)), items), .equal(asked.withLock { $0 }, next),
            .equal(recorder.snapshot.total, answer["count"]?.int),
        ])
    }

    @Test func `Relay connections are followed by their cursors`() async throws {
        let keys = "items args loaded_slice total_count expected_nodes expected_page_info expected_error"
        try await CaseFile("relay_cursor").run(reading: keys) { item in
            guard let info = item["expected_page_info"] else {
                return .notApplicable("the server rejects the arguments")
            }
            let nodes = item["expected_nodes"]?.array ?? []
            let recorder = PageRecorder<JSONValue>(strategy: .cursor)
            do throws(APIError) {
                try await recorder.refresh { _ in
                    Page(nodes, hasMore: info["hasNextPage"]?.bool, nextCursor: info["endCursor"]?.string)
                }
            } catch {
                // An empty list is reported as an error.
                return nodes.isEmpty ? .equal(error.code, .noData) : .failed("\(error)")
            }
            let asked = Locked<String?>(nil)
            _ = try? await recorder.loadMore { request -> [JSONValue] in
                asked.withLock { $0 = request.cursor }
                return []
            }
            let hasNext = info["hasNextPage"]?.bool == true
            return .all([
                .equal(Array(recorder.items.prefix(nodes.count)), nodes),
                .equal(asked.withLock { $0 }, hasNext ? info["endCursor"]?.string : nil),
            ])
        }
    }

    @Test func `pages are followed as in octokit and got`() async throws {
        let keys = """
            * expected_items expected_requests expected_pages expected_all_items_seen expected_next_url
            expected_next_headers expected_next_body expected_next_body_json expected_error
            """
        try await CaseFile("pagination_walks").run(reading: keys) { item in
            if item["pages"] != nil { return try await PageWalkCase(item).octokit() }
            if item["link_header"]?.string?.contains("character string") == true { return PageWalkCase.attack() }
            return try await PageWalkCase(item).got()
        }
    }
}

/// A case of Android's paging library: a list of numbers with a first page of five and later pages of three.
private struct AndroidCase {
    let item: CaseFile.Case
    let total: Int
    private let pages = Locked<[JSONValue]>([])

    init(_ item: CaseFile.Case) {
        self.item = item
        total = item["total"]?.int ?? 100
    }

    func verdict() async throws -> Verdict {
        let recorder = PageRecorder<Int>(pageSize: 3, strategy: .offset)
        var result = "pages"
        for step in item["operations"]?.array ?? [] {
            do throws(APIError) {
                if step.object?["refresh"] != nil {
                    pages.withLock { $0 = [] }
                    try await recorder.refresh { _ in try load(from: step["refresh"]?.int ?? 0, step) }
                } else {
                    try await recorder.loadMore { request in try load(from: offset(request), step) }
                }
                result = "pages"
            } catch {
                if error.code == .failed { result = "error" }
            }
        }
        let expected = item["expected_pages"] ?? item["expected_pages_exact"]
        return .all([
            .equal(JSONValue.array(pages.withLock { $0 }), expected ?? []),
            .equal(result, item["expected_result"]?.string ?? "pages"),
        ])
    }

    /// Performs steps that are an error in Android's library but load a page here.
    func leniency() async -> Verdict {
        let recorder = PageRecorder<Int>(pageSize: 3, strategy: .offset)
        for step in item["operations"]?.array ?? [] {
            do throws(APIError) {
                if step.object?["refresh"] != nil {
                    try await recorder.refresh { _ in try load(from: 0, step) }
                } else {
                    try await recorder.loadMore { try load(from: $0.offset, step) }
                }
            } catch {
                return .failed("\(error)")
            }
        }
        guard recorder.items.first == 0 else { return .failed("\(recorder.items)") }
        return item["operations"]?.array?.first?.object?["refresh"] == nil
            ? .difference("a call of loadMore before the first refresh loads the first page")
            : .difference("a list can be refreshed again, which restarts it")
    }

    /// The recorder counts from the first loaded item, and the case counts from the start of the list.
    private func offset(_ request: PageRequest) -> Int {
        (pages.withLock { $0.first }?["itemsBefore"]?.int ?? 0) + request.offset
    }

    private func load(from key: Int, _ step: JSONValue) throws -> Page<Int> {
        if step["fails"] == true { throw APIError(.status(500)) }
        let size = step["append"] == nil ? 5 : 3
        let start = max(0, min(key, total - (step["append"] == nil ? size : 0)))
        let data = Array((0..<total).dropFirst(start).prefix(size))
        let after = total - start - data.count
        pages.withLock { pages in
            pages.append([
                "data": .array(data.map { .number(JSONNumber($0)) }),
                "prevKey": start > 0 ? .number(JSONNumber(start - 1)) : nil,
                "nextKey": after > 0 ? .number(JSONNumber(start + data.count)) : nil,
                "itemsBefore": .number(JSONNumber(start)), "itemsAfter": .number(JSONNumber(after)),
            ])
        }
        return Page(data, hasMore: after > 0)
    }
}

/// A sequence of pages of a server.
private struct PageWalkCase {
    let item: CaseFile.Case
    private let requests = Locked<[String]>([])

    init(_ item: CaseFile.Case) {
        self.item = item
    }

    static func attack() -> Verdict {
        let clock = ContinuousClock()
        var links = 0
        let time = clock.measure {
            for text in ["<", ">", "<>", "<,", "<\"", ";=", "<;"] {
                links += WebLink.parse([String(repeating: text, count: 50_000)]).filter { !$0.relations.isEmpty }.count
            }
        }
        return links == 0 && time < .seconds(30) ? .passed : .failed("\(links) links in \(time)")
    }

    func octokit() async throws -> Verdict {
        let known: Set = [
            "id", "source", "note", "pages", "start", "map", "items_key", "expected_items", "expected_requests",
        ]
        guard item.keys.isSubset(of: known) else {
            return .notApplicable("the caller ends the loop over the pages or receives the failure of a page")
        }
        let pages = item["pages"]?.array ?? []
        let start = item["start"]?.string ?? ""
        let strategy: PageStrategy<JSONValue> =
            pages.contains { $0["link"] != nil } || pages.count == 1 ? .link(allowsOtherOrigins: true) : .pageNumber
        let recorder = PageRecorder<JSONValue>(pageSize: 1, strategy: strategy)
        var items: [JSONValue] = []
        for try await page in recorder.allPages({ try answer(to: $0, start, pages) }) { items += page }
        if let key = item["map"]?.string { items = items.compactMap { $0[key] } }
        let expected = item["expected_items"]?.array ?? []
        let isThere = zip(items, expected).allSatisfy { Self.contains($0, $1) } && items.count == expected.count
        return .all([
            isThere ? .passed : .failed("\(items) instead of \(expected)"),
            .equal(requests.withLock { $0.count }, item["expected_requests"]?.int ?? pages.count),
        ])
    }

    /// Whether a value has the members that the case expects.
    private static func contains(_ value: JSONValue, _ expected: JSONValue) -> Bool {
        guard let members = expected.object else { return value == expected }
        return members.allSatisfy { value[$0.key] == $0.value }
    }

    private func answer(to request: PageRequest, _ start: String, _ pages: [JSONValue]) throws -> Page<JSONValue> {
        let url = request.link ?? (request.number == 1 ? start : start + "&page=\(request.number)")
        requests.withLock { $0.append(url) }
        let page = try #require(pages.first { $0["url"]?.string == url })
        let body = page["body"] ?? nil
        let total = body["total_commits"]?.int
        let items = body.array ?? item["items_key"]?.string.flatMap { body[$0]?.array } ?? [body]
        guard let link = page["link"]?.string else { return Page(items, total: total) }
        return Page(items, linkHeader: [link], url: url)
    }

    func got() async throws -> Verdict {
        if item["next_page"]?.string?.hasPrefix("other origin") == true {
            return await refusal()
        }
        if let expected = item["expected_next_url"]?.string {
            let link = WebLink(target: item["next"]?.string ?? "", relations: ["next"])
            return .equal(link.resolved(against: item["current"]?.string ?? ""), expected)
        }
        if item["stackAllItems"] == false { return .notApplicable("the recorder stores its items") }
        if let way = item["paginate"]?.string {
            guard way == "after page 1 go to page 3, then stop" else { return Self.callersPages }
            return try await walk(PageStrategy(first: .number(1)) { $1.items == [1] ? .number(3) : nil })
        }
        let known: Set = [
            "id", "source", "server", "note", "server_elements", "link_header", "start", "next_is_relative", "filter",
            "countLimit", "requestLimit", "stackAllItems", "expected_items", "expected_requests",
            "expected_all_items_seen",
        ]
        guard item.keys.isSubset(of: known) else { return Self.callersPages }
        return try await walk(.link)
    }

    /// Loads two pages, the second of which has another origin.
    private func refusal() async -> Verdict {
        let recorder = PageRecorder<JSONValue>(pageSize: 1, strategy: .link)
        for _ in 0..<2 {
            _ = try? await recorder.loadMore { request -> Page<JSONValue> in
                requests.withLock { $0.append(request.link ?? "http://h/") }
                return Page([1], linkHeader: ["<http://other/?page=2>; rel=\"next\""], url: "http://h/")
            }
        }
        let asked = requests.withLock { $0 }
        return asked == ["http://h/"]
            ? .difference("a link to another origin is rejected unless the strategy allows it") : .failed("\(asked)")
    }

    private static let callersPages = Verdict.notApplicable("the caller requests each page and builds its request")

    private func walk(_ strategy: PageStrategy<JSONValue>) async throws -> Verdict {
        let recorder = PageRecorder<JSONValue>(pageSize: 1, strategy: strategy)
        let seen = Locked<[Int]>([])
        while recorder.hasMore {
            try await recorder.loadMore { request in
                seen.withLock { $0.append(recorder.items.count) }
                return page(request)
            }
            if let limit = item["countLimit"]?.int, recorder.items.count >= limit { break }
            if let limit = item["requestLimit"]?.int, seen.withLock({ $0.count }) >= limit { break }
        }
        let hasUser = item["start"]?.string?.contains("@") == true
        return .all([
            .equal(requests.withLock { $0.allSatisfy { $0.contains("user:password@") } }, hasUser),
            .equal(recorder.items, item["expected_items"]?.array ?? recorder.items),
            .equal(requests.withLock { $0.count }, item["expected_requests"]?.int ?? requests.withLock { $0.count }),
            item["expected_all_items_seen"].map {
                .equal(seen.withLock { $0 }, $0.array?.compactMap(\.int) ?? [])
            } ?? .passed,
        ])
    }

    private func page(_ request: PageRequest) -> Page<JSONValue> {
        let start = item["start"]?.string ?? "http://h/"
        let url = request.link ?? start
        requests.withLock { $0.append(url) }
        let number = url.split(separator: "=").last.flatMap { Int($0) } ?? request.number
        let isFiltered = item["filter"] != nil && number == 2
        let items: [JSONValue] = isFiltered ? [] : [.number(JSONNumber(number))]
        let last = item["server_elements"]?.int ?? item["expected_items"]?.array?.count ?? 5
        guard number < last, item["link_header"] == nil else {
            return Page(items, linkHeader: [item["link_header"]?.string ?? ""], url: url)
        }
        let isRelative = item["next_is_relative"] == true
        let target = isRelative ? "?page=\(number + 1)" : "http://h/?page=\(number + 1)"
        return Page(items, linkHeader: ["<\(target)>; rel=\"next\""], url: url)
    }
}
