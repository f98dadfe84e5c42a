import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestGraphTests {
    private func recorded(_ name: String, _ diary: Diary) -> APIRequest<String> {
        APIRequest(on: .global()) {
            diary.write(name)
            return name
        }
    }

    @Test func `a member of a request graph starts when its dependencies have succeeded`() async throws {
        let diary = Diary()
        let graph = RequestGraph(options: .test(.failFast))
        try graph.add(recorded("last", diary), named: "last", after: ["left", "right"])
        try graph.add(recorded("left", diary), named: "left", after: ["first"])
        try graph.add(recorded("right", diary), named: "right", after: ["first"])
        try graph.add(recorded("first", diary), named: "first")

        let report = try await graph.finished()

        #expect(report.outcome == .succeeded)
        #expect(diary.entries.first == "first")
        #expect(diary.entries.last == "last")
        #expect(diary.entries.count == 4)
    }

    @Test func `a member that is added while a request graph starts waits for its dependencies or is rejected`()
        async throws
    {
        for _ in 0..<300 {
            let diary = Diary()
            let graph = RequestGraph(options: .test(.failFast))
            try graph.add(recorded("first", diary), named: "first")
            let second = recorded("second", diary)
            async let addition: Void? = try? graph.add(second, named: "second", after: ["first"])
            _ = try await graph.finished()
            _ = await addition

            #expect(diary.entries == ["first"] || diary.entries == ["first", "second"])
        }
    }

    @Test
    func `a member that is added directly to the group of a request graph leaves the order of its members unchanged`()
        async throws
    {
        let diary = Diary()
        let graph = RequestGraph(options: .test(.failFast, limit: 1))
        try graph.add(recorded("second", diary), named: "second", after: ["first"])
        try graph.add(recorded("first", diary), named: "first")
        graph.group.add(recorded("free", diary))

        let report = try await graph.finished()

        #expect(report.members == [.succeeded, .succeeded, .succeeded])
        #expect(diary.entries == ["free", "first", "second"])
    }

    @Test(arguments: [false, true])
    func `cancelling a request graph or its group before the start cancels all members`(
        throughGroup: Bool
    ) async throws {
        let diary = Diary()
        let members = ["a", "b"].map { recorded($0, diary) }
        let graph = RequestGraph(options: .test(.failFast))
        try graph.add(members[0], named: "a")
        try graph.add(members[1], named: "b", after: ["a"])

        if throughGroup { graph.group.cancel() } else { graph.cancel() }

        #expect(try await graph.finished() == GroupReport(outcome: .cancelled, members: [.cancelled, .cancelled]))
        #expect(members.map(\.isCancelled) == [true, true])
        #expect(throws: GraphError.started) { try graph.start() }
        #expect(throws: GraphError.started) { try graph.add(recorded("c", diary), named: "c") }
        #expect(diary.entries == [])
    }

    @Test func `a request graph that is started through its group keeps its order`() async throws {
        let diary = Diary()
        let graph = RequestGraph(options: .test(.failFast))
        try graph.add(recorded("second", diary), named: "second", after: ["first"])
        try graph.add(recorded("first", diary), named: "first")

        let report = await graph.group.finished()

        #expect(report == GroupReport(outcome: .succeeded, members: [.succeeded, .succeeded]))
        #expect(diary.entries == ["first", "second"])
    }

    @Test func `a request graph with several concurrent waiters starts once and keeps its order`() async throws {
        for _ in 0..<300 {
            let diary = Diary()
            let graph = RequestGraph(options: .test(.failFast))
            try graph.add(recorded("second", diary), named: "second", after: ["first"])
            try graph.add(recorded("first", diary), named: "first")

            let outcomes = await withTaskGroup(of: GroupOutcome?.self) { group in
                for _ in 0..<4 { group.addTask { try? await graph.finished().outcome } }
                return await group.reduce(into: []) { $0.append($1) }
            }

            #expect(outcomes == [.succeeded, .succeeded, .succeeded, .succeeded])
            #expect(diary.entries == ["first", "second"])
        }
    }

    @Test func `a member of a request graph can use the values of its dependencies`() async throws {
        let login = APIRequest<Int>.ready(7)
        let user = APIRequest<String>(on: .global()) { "user \(try await login.value())" }
        let graph = RequestGraph(options: .test(.failFast))
        try graph.add(login, named: "login")
        try graph.add(user, named: "user", after: ["login"])

        _ = try await graph.finished()

        #expect(user.response?.value == "user 7")
    }

    @Test func `the error for a dependency cycle names the members, and no member starts`() throws {
        let diary = Diary()
        let graph = RequestGraph(options: .test(.failFast))
        try graph.add(recorded("a", diary), named: "a")
        try graph.add(recorded("b", diary), named: "b", after: ["d", "a"])
        try graph.add(recorded("c", diary), named: "c", after: ["b"])
        try graph.add(recorded("d", diary), named: "d", after: ["c"])

        let error = #expect(throws: GraphError.self) { try graph.start() }

        guard case .cycle(let names) = error else {
            Issue.record("expected a cycle, got \(String(describing: error))")
            return
        }
        #expect(Set(names) == ["b", "c", "d"])
        #expect(diary.entries == [])
    }

    @Test func `in a request graph, unknown names, duplicate names and a self-dependency are errors`() throws {
        let graph = RequestGraph(options: .test(.failFast))
        try graph.add(APIRequest<Int>.ready(1), named: "a", after: ["nobody"])
        #expect(throws: GraphError.duplicateName("a")) { try graph.add(APIRequest<Int>.ready(1), named: "a") }
        #expect(throws: GraphError.unknownName("nobody", dependent: "a")) { try graph.start() }

        let alone = RequestGraph(options: .test(.failFast))
        try alone.add(APIRequest<Int>.ready(1), named: "a", after: ["a"])
        #expect(throws: GraphError.cycle(["a"])) { try alone.start() }
    }

    @Test func `a request graph notifies its accessory and its handler of the end`() async throws {
        let diary = Diary()
        let graph = RequestGraph(options: .test(.failFast))
            .adding(DiaryAccessory(diary: diary, name: "graph"))
            .onFinish { diary.write("\($0.outcome)") }
        try graph.add(recorded("a", diary), named: "a")

        graph.resume()
        await withCheckedContinuation { continuation in graph.whenEnded { _ in continuation.resume() } }

        #expect(diary.entries == ["graph willStart", "a", "graph willStop", "succeeded", "graph didStop"])
    }

    @Test func `a request graph of 20,000 members succeeds`() async throws {
        let count = 20_000
        let graph = RequestGraph(options: .test(.failFast))
        for number in 0..<count {
            let before = number == 0 ? [] : ["\(number / 2)", "0"].filter { $0 != "\(number)" }
            let member = ManualMember()
            member.end(.succeeded)
            try graph.add(member, named: "\(number)", after: before)
        }

        #expect(try await graph.finished().members == Array(repeating: .succeeded, count: count))
    }

    @Test(
        arguments: [
            (GraphError.duplicateName("a"), "two members are named a, but names must be unique"),
            (.unknownName("b", dependent: "a"), "a depends on b, which is not a member"),
            (.cycle(["a", "b"]), "members depend on each other in a circle: a, b"),
            (.started, "the graph has already been started"),
        ]
    )
    func `the description of a request graph error names the problem`(error: GraphError, words: String) {
        #expect("\(error)" == words)
    }

    @Test func `an invalid request graph inside a group fails, and its members are cancelled`() async throws {
        let member = APIRequest<Int>.ready(1)
        let graph = RequestGraph(options: .test(.failFast))
        try graph.add(member, named: "a", after: ["a"])

        let report = await RequestGroup([graph], options: .test()).finished()

        guard case .failed = report.members.first else {
            Issue.record("expected a failure, got \(report.members)")
            return
        }
        #expect(member.isCancelled)
    }

    @Test func `a failure with collectAll cancels only the members that depend on it`() async throws {
        let diary = Diary()
        let graph = RequestGraph(options: .test(.collectAll))
        try graph.add(APIRequest<Int>.failing(), named: "bad")
        try graph.add(recorded("lost", diary), named: "lost", after: ["bad"])
        try graph.add(recorded("more lost", diary), named: "more lost", after: ["lost"])
        try graph.add(recorded("free", diary), named: "free")

        let report = try await graph.finished()

        #expect(report.members == [.failed(.status(500)), .cancelled, .cancelled, .succeeded])
        #expect(diary.entries == ["free"])
    }

    @Test func `a long chain of dependencies does not overflow the stack`() async throws {
        let graph = RequestGraph(options: .test(.failFast))
        for number in 0..<2_000 {
            try graph.add(APIRequest<Int>.ready(number), named: "\(number)", after: number > 0 ? ["\(number - 1)"] : [])
        }

        #expect(try await graph.finished().outcome == .succeeded)
    }

    @Test func `neither a request graph nor its member groups can contain the graph itself`() throws {
        let graph = RequestGraph(options: .test())
        let group = RequestGroup([graph], options: .test())
        let later = RequestGraph(options: .test())
        let outer = RequestGroup(options: .test())
        try later.add(outer, named: "outer")

        #expect(throws: GraphError.cycle(["self"])) { try graph.add(graph, named: "self") }
        #expect(throws: GraphError.cycle(["group"])) { try graph.add(group, named: "group") }
        #expect(!outer.add(later))
    }

    @Test func `the group property of a request graph cannot be added to a member of the same graph`() async throws {
        let graph = RequestGraph(options: .test())
        let outer = RequestGroup(options: .test())
        try graph.add(outer, named: "outer")

        #expect(!outer.add(graph.group))

        // A rejected member is not awaited.
        guard outer.members.isEmpty else { return }
        #expect(try await graph.finished().outcome == .succeeded)
    }

    @Test func `if two request graphs are added to each other at the same time, one of the additions is rejected`()
        throws
    {
        // Many members make the search for cycles take long enough to overlap.
        let members = (0..<300).map { _ in RequestGroup(options: .test()) }
        for _ in 0..<200 {
            let graphs = [RequestGraph(options: .test()), RequestGraph(options: .test())]
            for graph in graphs {
                for (number, member) in members.enumerated() { try graph.add(member, named: "\(number)") }
            }
            let added = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                guard (try? graphs[number].add(graphs[1 - number], named: "other")) != nil else { return }
                added.withLock { $0 += 1 }
            }
            #expect(added.withLock { $0 } == 1)
        }
    }
}
